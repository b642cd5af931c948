package dev.sluice.local.lease;

import java.util.function.LongSupplier;

/** A monotonic clock that tests move. It starts near the end of its range, where it overflows. */
public final class FakeClock implements LongSupplier {
  private long nanos = Long.MAX_VALUE - 1_000_000_000L;

  @Override
  public long getAsLong() {
    return nanos;
  }

  public void advanceNanos(long by) {
    nanos += by;
  }

  public void advanceSeconds(double seconds) {
    nanos += Math.round(seconds * 1e9);
  }
}
