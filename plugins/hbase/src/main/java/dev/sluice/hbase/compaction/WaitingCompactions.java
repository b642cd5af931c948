package dev.sluice.hbase.compaction;

import dev.sluice.local.protocol.Refusal;
import dev.sluice.local.protocol.Snapshot;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;

/** Compactions that have not begun: those that orders put off, and those in the store's queues. */
final class WaitingCompactions {
  private final RegionServerServices services;
  private final CompactionQueue deferred;
  private final TaskIds ids = new TaskIds(System::nanoTime);
  private final WaitingAborts aborts;

  // Since when the task has waited that a thread of the store is about to begin.
  private final ThreadLocal<Long> askedSinceMillis = new ThreadLocal<>();

  WaitingCompactions(
      RegionServerServices services, CompactionQueue deferred, RequestClock requests) {
    this.services = services;
    this.deferred = deferred;
    this.aborts = new WaitingAborts(requests);
  }

  /** Notes that the turn of a task has come, and says whether it is to be aborted. */
  boolean turnCame(String store, long sinceMillis) {
    askedSinceMillis.set(sinceMillis);
    return aborts.covers(store, sinceMillis);
  }

  /** The name of a compaction that begins on this thread. */
  String begin(String store) {
    return ids.begin(store);
  }

  /** Why the compaction that begins on this thread has to end; empty if it goes on. */
  String abortReason(String store) {
    Long since = askedSinceMillis.get();
    askedSinceMillis.remove();
    return since != null && aborts.covers(store, since) ? aborts.reason(store) : "";
  }

  /** Has a task end when its turn comes; the caller excludes that it begins meanwhile. */
  void abort(String id, String reason) throws Refusal {
    Set<String> waiting = shownStores(queued(StoreView.all(services)).values());
    String store =
        ids.storeOfWaiting(id)
            .filter(waiting::contains)
            .orElseThrow(
                () ->
                    Refusal.notFound(
                        "there is no compaction \"" + id + "\"",
                        "snapshot shows those there are."));
    if (!StoreHooks.canDefer()) {
      throw Refusal.refused(
          "\"" + id + "\" waits in a queue that this store does not give access to",
          "Abort it when it runs, or run a patched store.");
    }
    aborts.add(store, reason);
  }

  /** Has what was aborted run after all. */
  void cancelAbort(String store) {
    aborts.cancel(store);
  }

  /** Hands back those that are to be aborted; not to be called with a lock held. */
  void giveBackAborted() {
    for (Candidate candidate : deferred.inOrder()) {
      if (aborts.covers(candidate.key(), candidate.requestedMillis())) {
        deferred.giveBack(candidate.key());
      }
    }
  }

  void forgetClosed() {
    if (aborts.isEmpty() && !deferred.hasAdmitted()) {
      return;
    }
    Set<String> open =
        StoreView.all(services).stream()
            .map(view -> StoreView.keyOf(view.store()))
            .collect(Collectors.toSet());
    aborts.retain(open);
    deferred.retainAdmitted(open);
  }

  private Map<StoreView, QueuedCompaction> queued(List<StoreView> open) {
    Map<String, StoreView> byKey = new LinkedHashMap<>();
    open.forEach(view -> byKey.put(StoreView.keyOf(view.store()), view));
    Map<StoreView, QueuedCompaction> queued = new LinkedHashMap<>();
    for (QueuedCompaction each : QueuedCompaction.all(services)) {
      StoreView view = byKey.get(each.store());
      if (view != null && !aborts.covers(each.store(), each.sinceMillis())) {
        queued.putIfAbsent(view, each);
      }
    }
    return queued;
  }

  private Set<String> shownStores(Collection<QueuedCompaction> queued) {
    Set<String> stores = new HashSet<>();
    queued.forEach(each -> stores.add(each.store()));
    deferred.inOrder().forEach(each -> stores.add(each.key()));
    return stores;
  }

  /** Of each store it shows one: that which is put off, if there is one. */
  void report(List<StoreView> open, Snapshot.Builder snapshot) {
    List<Candidate> kept = deferred.inOrder();
    Map<StoreView, QueuedCompaction> queued = queued(open);
    Map<String, String> names = ids.show(shownStores(queued.values()));
    kept.forEach(each -> CompactionReport.deferred(names.get(each.key()), each, snapshot));
    Set<String> shown = kept.stream().map(Candidate::key).collect(Collectors.toSet());
    queued.forEach(
        (view, each) -> {
          if (!shown.contains(each.store())) {
            CompactionReport.queued(names.get(each.store()), view, each, snapshot);
          }
        });
  }
}
