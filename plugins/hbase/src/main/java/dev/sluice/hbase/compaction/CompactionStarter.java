package dev.sluice.hbase.compaction;

import dev.sluice.local.lease.Scope;
import dev.sluice.local.protocol.Refusal;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.hbase.regionserver.CompactSplit;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.regionserver.Store;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionLifeCycleTracker;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionRequester;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts compactions, and what was put off, by order. */
final class CompactionStarter {
  /** Of the files that the store's own policy selects. */
  static final String MINOR = "minor";

  /** Of all files. */
  static final String MAJOR = "major";

  private static final Logger LOG = LoggerFactory.getLogger(CompactionStarter.class);

  private final RegionServerServices services;
  private final CompactionQueue queue;
  private final WaitingCompactions waiting;

  CompactionStarter(
      RegionServerServices services, CompactionQueue queue, WaitingCompactions waiting) {
    this.services = services;
    this.queue = queue;
    this.waiting = waiting;
  }

  /** Learns at once whether the store has selected no file. */
  private static final class Selection implements CompactionLifeCycleTracker {
    private boolean isEmpty;

    @Override
    public void notExecuted(Store store, String reason) {
      isEmpty = true;
    }
  }

  /**
   * Requests a compaction of every store in a scope; of system tables only where one is named.
   *
   * @param variant empty for what the store is asked for most often: all files
   */
  void start(Scope scope, String variant) throws Refusal {
    if (areSwitchedOff(services)) {
      throw Refusal.refused(
          "compactions are switched off on this server", "Switch them on with compaction_switch.");
    }
    boolean isMinor = variant.equals(MINOR);
    int requested = 0;
    for (StoreView store : meant(scope)) {
      if (request(store, isMinor)) {
        requested++;
      }
    }
    if (requested == 0) {
      throw nothingToStart(scope, isMinor);
    }
  }

  /** Leaves out tables whose compactions are disabled: the store would ignore the request. */
  private List<StoreView> meant(Scope scope) throws Refusal {
    List<StoreView> withFiles =
        StoreView.all(services).stream().filter(store -> isMeant(store, scope)).toList();
    List<StoreView> meant = withFiles.stream().filter(StoreView::isCompactionEnabled).toList();
    if (meant.isEmpty() && !withFiles.isEmpty()) {
      throw Refusal.refused(
          "compactions of \"" + scope.text() + "\" are disabled in the table's descriptor",
          "Set COMPACTION_ENABLED of the table to true, with alter of the shell.");
    }
    return meant;
  }

  private static boolean isMeant(StoreView store, Scope scope) {
    boolean inScope =
        scope.contains(store.scope()) && !(store.isSystem() && scope.table().isEmpty());
    return inScope && store.store().getStorefilesCount() > 0 && store.region().areWritesEnabled();
  }

  private static Refusal nothingToStart(Scope scope, boolean isMinor) {
    return isMinor
        ? Refusal.refused(
            "the policy of \"" + scope.text() + "\" selects no files now",
            "Wait for more files, or start a major compaction.")
        : Refusal.refused(
            "\"" + scope.text() + "\" has no file here that is not being compacted already",
            "Flush it first, or wait for the compactions that run.");
  }

  /** False if the store has selected no files, and none were put off. */
  private boolean request(StoreView view, boolean isMinor) throws Refusal {
    if (!isMinor) {
      view.store().triggerMajorCompaction();
    }
    String key = StoreView.keyOf(view.store());
    waiting.cancelAbort(key);
    Selection selection = new Selection();
    try {
      services
          .getCompactionRequestor()
          .requestCompaction(
              view.region(), view.store(), "by order", Store.PRIORITY_USER, selection, null);
    } catch (IOException e) {
      LOG.warn("no compaction of {} was requested", view.store(), e);
      throw Refusal.unavailable(
          "the files of " + view.scope().text() + " cannot be selected: " + e.getMessage(),
          "The log of the region server says more.");
    }
    if (selection.isEmpty && !queue.hasKept(key)) {
      return false;
    }
    queue.start(key);
    return true;
  }

  static boolean areSwitchedOff(RegionServerServices services) {
    CompactionRequester requester = services.getCompactionRequestor();
    return requester instanceof CompactSplit split && !split.isCompactionsEnabled();
  }
}
