package dev.sluice.hbase.compaction;

import dev.sluice.hbase.lease.Scope;
import dev.sluice.hbase.protocol.Refusal;
import java.io.IOException;
import org.apache.hadoop.hbase.regionserver.CompactSplit;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.regionserver.Store;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionLifeCycleTracker;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionRequester;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts major compactions, and what was put off, by order. */
final class CompactionStarter {
  private static final Logger LOG = LoggerFactory.getLogger(CompactionStarter.class);

  private final RegionServerServices services;
  private final CompactionQueue queue;

  CompactionStarter(RegionServerServices services, CompactionQueue queue) {
    this.services = services;
    this.queue = queue;
  }

  /** Requests a compaction of every store in a scope; of system tables only where one is named. */
  void start(Scope scope) throws Refusal {
    if (areSwitchedOff(services)) {
      throw Refusal.refused(
          "compactions are switched off on this server", "Switch them on with compaction_switch.");
    }
    int requested = 0;
    for (StoreView store : StoreView.all(services)) {
      boolean meant = scope.contains(store.scope()) && !(store.isSystem() && scope.table().isEmpty());
      if (meant && store.store().getStorefilesCount() > 0 && store.region().areWritesEnabled()) {
        request(store);
        requested++;
      }
    }
    if (requested == 0) {
      throw Refusal.refused(
          "\"" + scope.text() + "\" has no file on this server", "Flush it first.");
    }
  }

  private void request(StoreView view) throws Refusal {
    view.store().triggerMajorCompaction();
    queue.start(StoreView.keyOf(view.store()), view.scope());
    try {
      services
          .getCompactionRequestor()
          .requestCompaction(
              view.region(),
              view.store(),
              "by order",
              Store.PRIORITY_USER,
              CompactionLifeCycleTracker.DUMMY,
              null);
    } catch (IOException e) {
      LOG.warn("no compaction of {} was requested", view.store(), e);
      throw Refusal.unavailable(
          "the files of " + view.scope().text() + " cannot be selected: " + e.getMessage(),
          "The log of the region server says more.");
    }
  }

  static boolean areSwitchedOff(RegionServerServices services) {
    CompactionRequester requester = services.getCompactionRequestor();
    return requester instanceof CompactSplit split && !split.isCompactionsEnabled();
  }
}
