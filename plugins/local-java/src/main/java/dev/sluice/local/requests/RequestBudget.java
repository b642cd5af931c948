package dev.sluice.local.requests;

/**
 * How many requests are still taken at a rate. One is taken when there is room for one row, and
 * what it has more overdraws the budget: where it had to wait until all of it is saved up, small
 * ones would keep a large one out for good. Not safe for use by several threads.
 */
final class RequestBudget {
  /** How much is saved up while nothing is asked for. */
  static final double BURST_SECONDS = 0.1;

  /** Nobody is told to stay away for longer, since the rate may be another one by then. */
  static final double LONGEST_WAIT_SECONDS = 1;

  private static final double NANOS_PER_SECOND = 1e9;

  private double perSecond;
  private double balance;
  // Those who were told to come back, and have not.
  private double waiting;
  private long atNanos;

  RequestBudget(double perSecond, long nowNanos) {
    this.perSecond = perSecond;
    this.balance = burst();
    this.atNanos = nowNanos;
  }

  /** Brings it up to now, at the rate that held until now, and sets the rate from now on. */
  void advance(double nextPerSecond, long nowNanos) {
    double earned = balance + perSecond * (nowNanos - atNanos) / NANOS_PER_SECOND;
    perSecond = nextPerSecond;
    atNanos = nowNanos;
    balance = Math.min(earned, burst());
    if (balance >= burst()) {
      waiting = 0;
    }
  }

  /**
   * Takes a request for so many rows if there is room for one of them now.
   *
   * @return 0, or after how many nanoseconds to ask again: one after the other
   */
  long take(int rows) {
    double needed = Math.min(rows, 1);
    if (balance >= needed) {
      balance -= rows;
      waiting = Math.max(0, waiting - rows);
      return 0;
    }
    double seconds = (needed - balance + waiting) / perSecond;
    waiting = Math.min(waiting + rows, perSecond * LONGEST_WAIT_SECONDS);
    return (long) Math.ceil(Math.min(seconds, LONGEST_WAIT_SECONDS) * NANOS_PER_SECOND);
  }

  /** Gives back what was taken for a request that is turned away for another reason. */
  void giveBack(int rows) {
    balance = Math.min(balance + rows, burst());
  }

  /** At least one: with a small rate there would never be room. */
  private double burst() {
    return Math.max(1, perSecond * BURST_SECONDS);
  }
}
