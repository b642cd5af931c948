package dev.sluice.client;

/**
 * The buckets of the reports: one for each microsecond up to 64, above that 32 for each power of
 * two.
 */
final class Buckets {
  static final int COUNT = 896;
  private static final int PER_POWER = 32;

  private Buckets() {}

  /** The bucket of a request; the last one takes all that are longer. */
  static int of(long microseconds) {
    if (microseconds < 2 * PER_POWER) {
      return (int) Math.max(0, microseconds);
    }
    int exponent = Long.SIZE - Long.numberOfLeadingZeros(microseconds) - 6;
    return (int) Math.min(COUNT - 1, PER_POWER * (long) exponent + (microseconds >> exponent));
  }

  /** The shortest time in a bucket, in microseconds. */
  static long least(int bucket) {
    if (bucket < 2 * PER_POWER) {
      return bucket;
    }
    return (long) (bucket % PER_POWER + PER_POWER) << (bucket / PER_POWER - 1);
  }
}
