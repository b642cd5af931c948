package dev.sluice.hbase.pace;

/**
 * What a rate still allows. It may be overdrawn: who takes then waits until time has made up for
 * it, so that a change of the rate has its effect on waits that have begun.
 */
final class TokenBucket {
  /**
   * How much of a stall may be made up for at once. Short, so that what follows is no burst that
   * requests would feel; long enough for the delays of a scheduler.
   */
  static final double CATCH_UP_SECONDS = 0.05;

  /**
   * How much more of it is made up for little by little. On a busy machine a thread may not run for
   * a tenth of a second. Both together are three per cent of five seconds: no more is ever done in
   * five seconds than the rate, that, and the step of each operation after which it waits.
   */
  static final double LATER_SECONDS = 0.1;

  /** How much faster than the rate that goes. */
  static final double LATER_SHARE = 0.25;

  private static final double NANOS_PER_SECOND = 1e9;

  private double balance;
  private double later;
  private double bytesPerSecond;
  private long atNanos;

  TokenBucket(double bytesPerSecond, long nowNanos) {
    this.bytesPerSecond = bytesPerSecond;
    this.atNanos = nowNanos;
  }

  /** Brings it up to now, at the rate that held until now, and sets the rate from now on. */
  void advance(double nextBytesPerSecond, long nowNanos) {
    double earned = bytesPerSecond * (nowNanos - atNanos) / NANOS_PER_SECOND;
    double madeUp = Math.min(later, earned * LATER_SHARE);
    double full = balance + earned + madeUp;
    double most = nextBytesPerSecond * CATCH_UP_SECONDS;
    balance = Math.min(full, most);
    // What was missed at another rate is not wanted at this one.
    later =
        nextBytesPerSecond == bytesPerSecond
            ? Math.min(later - madeUp + full - balance, nextBytesPerSecond * LATER_SECONDS)
            : 0;
    bytesPerSecond = nextBytesPerSecond;
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
