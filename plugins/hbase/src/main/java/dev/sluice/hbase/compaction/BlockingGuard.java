package dev.sluice.hbase.compaction;

import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.protocol.Refusal;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends every order on compactions before a store has so many files that writes would wait,
 * whichever store it is: a compaction that is held keeps a thread from all of them.
 */
final class BlockingGuard {
  private static final Logger LOG = LoggerFactory.getLogger(BlockingGuard.class);

  /**
   * A store and its files.
   *
   * @param store says in words which one it is
   */
  record Filling(Object store, FileLimits limits) {}

  private final LeaseStore leases;
  private final Supplier<List<Filling>> stores;
  private volatile String reason = "";
  private volatile long ends;

  BlockingGuard(LeaseStore leases, Supplier<List<Filling>> stores) {
    this.leases = leases;
    this.stores = stores;
  }

  /** Looks at all stores. It is cheap, and called from one place at a time. */
  synchronized void look() {
    List<Filling> now = stores.get();
    Optional<Filling> full = now.stream().filter(store -> store.limits().atEnd()).findFirst();
    if (full.isPresent()) {
      trip(full.get());
    } else if (isTripped() && now.stream().allMatch(store -> store.limits().belowRelease())) {
      reason = "";
      LOG.info("orders on compactions are taken again");
    }
  }

  private void trip(Filling full) {
    FileLimits limits = full.limits();
    boolean first = !isTripped();
    reason =
        "%s has %d files, and makes writes wait with %d"
            .formatted(full.store(), limits.files(), limits.blocking());
    int ended = leases.end(lease -> lease.kind().equals(CompactionPart.KIND));
    if (first) {
      ends = ends + 1;
      LOG.warn(
          "{}: {} orders on compactions end, and none is taken until it has fewer", reason, ended);
    }
  }

  boolean isTripped() {
    return !reason.isEmpty();
  }

  /** How often it had to end orders. */
  long ends() {
    return ends;
  }

  void refuseIfTripped() throws Refusal {
    String now = reason;
    if (!now.isEmpty()) {
      throw Refusal.refused(now, "Try again when compactions have caught up.");
    }
  }
}
