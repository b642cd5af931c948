package dev.sluice.cassandra.compaction;

import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.plugin.OrderGuard;
import java.util.List;
import java.util.Optional;

/**
 * Ends every order on compactions when a table has too many files that none has taken. Cassandra
 * has no bound of its own at which writes wait, so that reads would pay for each of them.
 */
final class FileGuard extends OrderGuard {
  /** The number of files of a table at which orders end. */
  static final String LIMIT_KEY = "sluice.compaction.limit.files";

  /** As many as a size-tiered compaction takes at once, by Cassandra's default. */
  static final int DEFAULT_LIMIT = 32;

  // Of the limit: what they must have gone down to for orders to be taken again.
  private static final double RELEASE_RATIO = 0.5;

  private final int limit;

  FileGuard(LeaseStore leases, int limit) {
    super(leases, CompactionPart.KIND, "Try again when compactions have caught up.");
    this.limit = limit;
  }

  /** Looks at what the tables have. */
  void look(List<FreshFiles.Debt> debts) {
    Optional<FreshFiles.Debt> full =
        debts.stream().filter(debt -> debt.files() >= limit).findFirst();
    if (full.isPresent()) {
      trip(reason(full.get()));
    } else if (isTripped() && debts.stream().allMatch(this::isReleased)) {
      release();
    }
  }

  private boolean isReleased(FreshFiles.Debt debt) {
    return debt.files() <= limit * RELEASE_RATIO;
  }

  private String reason(FreshFiles.Debt full) {
    return "%s has %d files that no compaction has taken, and the bound is %d"
        .formatted(full.scope().text(), full.files(), limit);
  }
}
