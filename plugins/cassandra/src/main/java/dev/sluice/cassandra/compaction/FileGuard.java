package dev.sluice.cassandra.compaction;

import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.protocol.Refusal;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends every order on compactions when a table has too many files that none has taken. Cassandra
 * has no bound of its own at which writes wait, so that reads would pay for each of them.
 */
final class FileGuard {
  /** The number of files of a table at which orders end. */
  static final String LIMIT_KEY = "sluice.compaction.limit.files";

  /** As many as a size-tiered compaction takes at once, by Cassandra's default. */
  static final int DEFAULT_LIMIT = 32;

  private static final Logger LOG = LoggerFactory.getLogger(FileGuard.class);
  // Of the limit: what they must have gone down to for orders to be taken again.
  private static final double RELEASE_RATIO = 0.5;

  private final LeaseStore leases;
  private final int limit;
  private volatile String reason = "";
  private volatile long ends;

  FileGuard(LeaseStore leases, int limit) {
    this.leases = leases;
    this.limit = limit;
  }

  /** Looks at what the tables have. */
  void look(List<FreshFiles.Debt> debts) {
    Optional<FreshFiles.Debt> full =
        debts.stream().filter(debt -> debt.files() >= limit).findFirst();
    if (full.isPresent()) {
      trip(full.get());
    } else if (isTripped() && debts.stream().allMatch(this::isReleased)) {
      reason = "";
      LOG.info("orders on compactions are taken again");
    }
  }

  private boolean isReleased(FreshFiles.Debt debt) {
    return debt.files() <= limit * RELEASE_RATIO;
  }

  private void trip(FreshFiles.Debt full) {
    boolean first = !isTripped();
    reason =
        "%s has %d files that no compaction has taken, and the bound is %d"
            .formatted(full.scope().text(), full.files(), limit);
    int ended = leases.end(lease -> lease.kind().equals(CompactionPart.KIND));
    if (first) {
      ends = ends + 1;
      LOG.warn(
          "{}: {} orders on compactions end, and none is taken until it has half as many",
          reason,
          ended);
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
