package dev.sluice.hbase.compaction;

import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.plugin.OrderGuard;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Ends every order on compactions before a store has so many files that writes would wait,
 * whichever store it is: a compaction that is held keeps a thread from all of them.
 */
final class BlockingGuard extends OrderGuard {
  /**
   * A store and its files.
   *
   * @param store says in words which one it is
   */
  record Filling(Object store, FileLimits limits) {}

  private final Supplier<List<Filling>> stores;

  BlockingGuard(LeaseStore leases, Supplier<List<Filling>> stores) {
    super(leases, CompactionPart.KIND, "Try again when compactions have caught up.");
    this.stores = stores;
  }

  /** Looks at all stores. It is cheap, and called from one place at a time. */
  synchronized void look() {
    List<Filling> now = stores.get();
    Optional<Filling> full = now.stream().filter(store -> store.limits().atEnd()).findFirst();
    if (full.isPresent()) {
      trip(reason(full.get()));
    } else if (isTripped() && now.stream().allMatch(store -> store.limits().belowRelease())) {
      release();
    }
  }

  private static String reason(Filling full) {
    FileLimits limits = full.limits();
    return "%s has %d files, and makes writes wait with %d"
        .formatted(full.store(), limits.files(), limits.blocking());
  }
}
