package dev.sluice.hbase.compaction;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Orders to abort compactions that wait. The store's queues cannot be reached: such a task ends
 * when its turn comes, before it has written anything.
 */
final class WaitingAborts {
  /**
   * An order.
   *
   * @param until those of the store that were requested until then are meant
   */
  private record Abort(RequestClock.Moment until, String reason) {}

  private final RequestClock clock;
  private final Map<String, Abort> byStore = new ConcurrentHashMap<>();

  WaitingAborts(RequestClock clock) {
    this.clock = clock;
  }

  void add(String store, String reason) {
    byStore.put(store, new Abort(clock.now(), reason));
  }

  /** Whether a task is meant; the store's clock says since when it waits. */
  boolean covers(String store, long sinceMillis) {
    Abort abort = byStore.get(store);
    return abort != null && clock.wasUntil(abort.until(), sinceMillis);
  }

  boolean isEmpty() {
    return byStore.isEmpty();
  }

  /** Why it ends, where it is meant. */
  String reason(String store) {
    Abort abort = byStore.get(store);
    return abort == null ? "" : abort.reason();
  }

  /** Takes the order back: somebody wants the store compacted after all. */
  void cancel(String store) {
    byStore.remove(store);
  }

  /** Forgets those of stores that are not open here any more. */
  void retain(Set<String> openStores) {
    byStore.keySet().retainAll(openStores);
  }
}
