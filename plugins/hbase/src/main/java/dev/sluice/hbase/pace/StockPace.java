package dev.sluice.hbase.pace;

/**
 * The pace that the store's own configuration gives.
 *
 * @param bytesPerSecond of all operations together
 * @param checkBytes after how many written bytes of an operation the pace is looked at
 */
public record StockPace(double bytesPerSecond, long checkBytes) {
  private static final double NANOS_PER_SECOND = 1e9;

  /** No pause at all. */
  public static final StockPace UNLIMITED = new StockPace(Double.POSITIVE_INFINITY, Long.MAX_VALUE);

  /**
   * Upstream's algorithm (PressureAwareThroughputController.control), but for its sleep: that is a
   * time until which the operation waits, so that an order can end it.
   */
  void charge(Operation operation, int operationCount, long nowNanos) {
    long written = operation.writtenBytes();
    long delta = written - operation.stockCheckedBytes;
    if (delta < checkBytes) {
      return;
    }
    double share = bytesPerSecond / Math.max(1, operationCount);
    long least = (long) (delta / share * NANOS_PER_SECOND);
    long elapsed = nowNanos - operation.stockCheckedNanos;
    long sleep = Math.max(0, least - elapsed);
    operation.stockCheckedBytes = written;
    operation.stockCheckedNanos = nowNanos + sleep;
    operation.stockWaitUntilNanos = nowNanos + sleep;
  }

  /** Begins anew: what was done under orders is neither held against it nor made up for. */
  static void reset(Operation operation, long nowNanos) {
    operation.stockCheckedBytes = operation.writtenBytes();
    operation.stockCheckedNanos = nowNanos;
    operation.stockWaitUntilNanos = nowNanos;
  }

  static Wait waitFor(Operation operation, long nowNanos) {
    long left = operation.stockWaitUntilNanos - nowNanos;
    return left > 0 ? new Wait(left, false, false) : Wait.NONE;
  }
}
