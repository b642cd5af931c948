package dev.sluice.hbase.pace;

/**
 * What a rate still allows. It may be overdrawn: who takes then waits until time has made up for
 * it, so that a change of the rate has its effect on waits that have begun.
 */
final class TokenBucket {
  /**
   * How much of a stall is made up for. Short, so that what follows is no burst that requests would
   * feel; long enough for the delays of a scheduler.
   */
  static final double CATCH_UP_SECONDS = 0.05;

  private static final double NANOS_PER_SECOND = 1e9;

  private double balance;
  private double bytesPerSecond;
  private long atNanos;

  TokenBucket(double bytesPerSecond, long nowNanos) {
    this.bytesPerSecond = bytesPerSecond;
    this.atNanos = nowNanos;
  }

  /** Brings it up to now, at the rate that held until now, and sets the rate from now on. */
  void advance(double nextBytesPerSecond, long nowNanos) {
    double earned = bytesPerSecond * (nowNanos - atNanos) / NANOS_PER_SECOND;
    bytesPerSecond = nextBytesPerSecond;
    balance = Math.min(balance + earned, nextBytesPerSecond * CATCH_UP_SECONDS);
    atNanos = nowNanos;
  }

  void take(long bytes) {
    balance -= bytes;
  }

  /** Time until it is no longer overdrawn, from the moment that it was advanced to. */
  long waitNanos() {
    if (balance >= 0) {
      return 0;
    }
    // The cast gives the largest value where a tiny rate would overflow.
    return (long) Math.ceil(-balance / bytesPerSecond * NANOS_PER_SECOND);
  }
}
