package dev.sluice.local.redirect;

/**
 * The size above which a write is redirected: algorithm 1 of SSD Write Redirect. It starts at
 * S_max, loses p of that whenever the fast tier's queue is longer than L, and is back at S_max when
 * the queue is empty. Limits may change at any time: what is kept is the part that was lost.
 */
public final class RedirectThreshold {
  private double lostRatio;

  /** Takes note of the length of the fast tier's queue. */
  public synchronized void observe(double queueRequests, RedirectLimits limits) {
    if (queueRequests == 0) {
      lostRatio = 0;
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
