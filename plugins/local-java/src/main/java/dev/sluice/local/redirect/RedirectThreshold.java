package dev.sluice.local.redirect;

/**
 * The size above which a write is redirected: algorithm 1 of SSD Write Redirect. It starts at
 * S_max, loses p of that whenever the fast tier's queue is longer than L, and is back at S_max when
 * the queue is empty: at once, or by as many steps as it has lost. Limits may change at any time:
 * what is kept is the part that was lost.
 */
public final class RedirectThreshold {
  private final boolean returnsInSteps;
  private double lostRatio;

  private RedirectThreshold(boolean returnsInSteps) {
    this.returnsInSteps = returnsInSteps;
  }

  /** One that an empty queue brings back at once, as the paper has it. */
  public static RedirectThreshold returningAtOnce() {
    return new RedirectThreshold(false);
  }

  /**
   * One that each look at an empty queue brings back by p. It is for what looks often, and where a
   * write that comes back too early is waited for by all later ones.
   */
  public static RedirectThreshold returningInSteps() {
    return new RedirectThreshold(true);
  }

  /** Takes note of the length of the fast tier's queue. */
  public synchronized void observe(double queueRequests, RedirectLimits limits) {
    if (queueRequests == 0) {
      lostRatio = returnsInSteps ? Math.max(0, lostRatio - limits.stepRatio()) : 0;
    } else if (queueRequests > limits.queueRequests()) {
      lostRatio = Math.min(1, lostRatio + limits.stepRatio());
    }
  }

  /** Forgets what was lost, as when there are no limits any more. */
  public synchronized void reset() {
    lostRatio = 0;
  }

  /** The threshold now, in bytes. */
  public synchronized double sizeBytes(RedirectLimits limits) {
    return limits.sizeBytes() * (1 - lostRatio);
  }

  /** Whether a write of a size is to be redirected, if the slow tier can take it. */
  public boolean redirects(double sizeBytes, RedirectLimits limits) {
    return sizeBytes > sizeBytes(limits);
  }
}
