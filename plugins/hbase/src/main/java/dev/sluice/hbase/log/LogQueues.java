package dev.sluice.hbase.log;

import dev.sluice.local.redirect.RedirectLimits;
import dev.sluice.local.redirect.RedirectThreshold;
import dev.sluice.local.redirect.Tier;
import java.util.OptionalLong;

/** How long the queues of the two tiers are, and which edits are redirected for that. */
abstract class LogQueues {
  /** The size above which edits are redirected, if the slow tier can take them. */
  protected final RedirectThreshold threshold;

  LogQueues(RedirectThreshold threshold) {
    this.threshold = threshold;
  }

  /** Whether an edit of a size goes to the slow log. */
  abstract boolean redirects(double sizeBytes, RedirectLimits limits);

  /** Requests that a tier has to do; empty where that cannot be known. */
  abstract OptionalLong requests(Tier tier);

  /** There are no limits: what was seen has nothing to do with later ones. */
  void forget() {
    threshold.reset();
  }

  /** The threshold now, in bytes. */
  final double thresholdBytes(RedirectLimits limits) {
    return threshold.sizeBytes(limits);
  }

  /** A handler is about to wait for a log; {@link #ended} follows. */
  void begun(Tier tier) {}

  /** A handler waits no longer. */
  void ended(Tier tier) {}
}
