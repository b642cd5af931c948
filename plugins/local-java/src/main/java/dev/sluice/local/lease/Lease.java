package dev.sluice.local.lease;

/**
 * An order in force.
 *
 * @param endNanos when it ends, on the clock of its {@link LeaseStore}
 */
public record Lease(String kind, Scope scope, Setting setting, String owner, long endNanos) {
  private static final double NANOS_PER_SECOND = 1e9;

  boolean endedAt(long nanos) {
    return nanos - endNanos >= 0;
  }

  /** Time until it ends, 0 if it has ended. */
  public double secondsLeftAt(long nanos) {
    return Math.max(0, endNanos - nanos) / NANOS_PER_SECOND;
  }
}
