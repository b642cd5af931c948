package dev.sluice.client;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;

/**
 * Requests of one operation for one part of a store, since they were told last. Threads add to it
 * without waiting for each other.
 */
final class Series {
  private static final long NANOS_PER_MICROSECOND = 1000;

  private final AtomicLongArray counts = new AtomicLongArray(Buckets.COUNT);
  private final LongAdder nanos = new LongAdder();
  private final AtomicLong longestNanos = new AtomicLong();
  private final LongAdder errors = new LongAdder();

  /** What there was of it in an interval. */
  record Told(long[] counts, long nanos, long longestNanos, long errors) {
    long requests() {
      long requests = errors;
      for (long count : counts) {
        requests += count;
      }
      return requests;
    }
  }

  void succeeded(long tookNanos) {
    long took = Math.max(0, tookNanos);
    nanos.add(took);
    longestNanos.accumulateAndGet(took, Math::max);
    counts.incrementAndGet(Buckets.of(took / NANOS_PER_MICROSECOND));
  }

  void failed() {
    errors.increment();
  }

  /**
   * Takes what there is, and begins anew. None of it is lost: of a request that ends meanwhile one
   * part may come with the next interval.
   */
  Told take() {
    long[] taken = new long[Buckets.COUNT];
    long least = -1;
    for (int bucket = 0; bucket < taken.length; bucket++) {
      if (counts.get(bucket) > 0) {
        taken[bucket] = counts.getAndSet(bucket, 0);
        least = Buckets.least(bucket) * NANOS_PER_MICROSECOND;
      }
    }
    if (least < 0) {
      // The time of a request that is being added is left for when it is counted.
      return new Told(taken, 0, 0, errors.sumThenReset());
    }
    long longest = Math.max(least, longestNanos.getAndSet(0));
    return new Told(taken, nanos.sumThenReset(), longest, errors.sumThenReset());
  }
}
