package dev.sluice.tests.linkedlist;

/** A bijection of 64 bits that spreads neighbours over the whole range. */
final class Mixing {
  // 2^64 divided by the golden ratio; odd, so that it has an inverse.
  private static final long FACTOR = 0x9e3779b97f4a7c15L;
  private static final long INVERSE = inverse(FACTOR);
  private static final int SHIFT = 32;

  private Mixing() {}

  static long mix(long value) {
    long once = (value ^ (value >>> SHIFT)) * FACTOR;
    long twice = (once ^ (once >>> SHIFT)) * FACTOR;
    return twice ^ (twice >>> SHIFT);
  }

  static long unmix(long mixed) {
    // A shift by half of the width is its own inverse.
    long twice = (mixed ^ (mixed >>> SHIFT)) * INVERSE;
    long once = (twice ^ (twice >>> SHIFT)) * INVERSE;
    return once ^ (once >>> SHIFT);
  }

  /** Newton's iteration modulo 2^64: each step doubles the bits that are right, from three on. */
  private static long inverse(long odd) {
    long inverse = odd;
    for (int rightBits = 3; rightBits < Long.SIZE; rightBits *= 2) {
      inverse *= 2 - odd * inverse;
    }
    return inverse;
  }
}
