package dev.sluice.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class BucketsTest {
  @Property
  void aRequestIsBetweenTheLeastOfItsBucketAndOfTheNext(
      @ForAll @LongRange(max = 4_000_000_000L) long microseconds) {
    int bucket = Buckets.of(microseconds);
    assertTrue(Buckets.least(bucket) <= microseconds);
    assertTrue(microseconds < Buckets.least(bucket + 1));
  }

  /** The agent's test has the same numbers in its reports. */
  @Test
  void bucketsAreThoseOfTheProtocol() {
    assertEquals(63, Buckets.of(63));
    assertEquals(64, Buckets.of(64));
    assertEquals(64, Buckets.of(65));
    assertEquals(270, Buckets.of(6_000));
    assertEquals(Buckets.COUNT - 1, Buckets.of(Long.MAX_VALUE));
    assertEquals(0, Buckets.of(-1));
  }
}
