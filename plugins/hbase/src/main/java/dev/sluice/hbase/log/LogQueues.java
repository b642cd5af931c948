package dev.sluice.hbase.log;

import dev.sluice.local.redirect.RedirectLimits;
import dev.sluice.local.redirect.Tier;
import java.util.OptionalLong;

/** How long the queues of the two tiers are, and which edits are redirected for that. */
interface LogQueues {
  /** Whether an edit of a size goes to the slow log. */
  boolean redirects(double sizeBytes, RedirectLimits limits);

  /** There are no limits: what was seen has nothing to do with later ones. */
  void forget();

  /** The size above which edits are redirected, if the slow tier can take them. */
  double thresholdBytes(RedirectLimits limits);

  /** Requests that a tier has to do; empty where that cannot be known. */
  OptionalLong requests(Tier tier);

  /** A handler is about to wait for a log; {@link #ended} follows. */
  default void begun(Tier tier) {}

  /** A handler waits no longer. */
  default void ended(Tier tier) {}
}
