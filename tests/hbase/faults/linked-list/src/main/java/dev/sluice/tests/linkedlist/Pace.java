package dev.sluice.tests.linkedlist;

import java.util.concurrent.TimeUnit;

/** When the next rows are due, if a number of them is to be written in each second. */
record Pace(double rowsPerSecond) {
  private static final double NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

  /** How long to wait after so many rows and so much time; 0 without a pace, and when late. */
  long waitNanos(long rows, long elapsedNanos) {
    if (rowsPerSecond <= 0) {
      return 0;
    }
    return Math.max(0, (long) (rows / rowsPerSecond * NANOS_PER_SECOND) - elapsedNanos);
  }
}
