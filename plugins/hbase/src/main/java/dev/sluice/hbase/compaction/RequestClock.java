package dev.sluice.hbase.compaction;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Tells which tasks were requested before a moment. The store notes that by the clock of the
 * machine: when it has been set back since, later tasks seem to be from before.
 */
final class RequestClock {
  // Two clocks cannot be read at once, and to take so little for nothing does no harm.
  private static final long LEAST_SET_BACK_MILLIS = 1000;

  /** A moment by the store's clock, and by one that nobody sets. */
  record Moment(long millis, long nanos) {}

  private final LongSupplier millis;
  private final LongSupplier nanoTime;

  /**
   * Makes one.
   *
   * @param millis the store's clock
   * @param nanoTime a monotonic clock
   */
  RequestClock(LongSupplier millis, LongSupplier nanoTime) {
    this.millis = millis;
    this.nanoTime = nanoTime;
  }

  Moment now() {
    return new Moment(millis.getAsLong(), nanoTime.getAsLong());
  }

  /** Whether a task was requested until a moment; not, if it may be from either side of it. */
  boolean wasUntil(Moment moment, long requestedMillis) {
    return requestedMillis <= moment.millis() - setBackSince(moment);
  }

  private long setBackSince(Moment moment) {
    long passed = TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong() - moment.nanos());
    long setBack = moment.millis() + passed - millis.getAsLong();
    return setBack < LEAST_SET_BACK_MILLIS ? 0 : setBack;
  }
}
