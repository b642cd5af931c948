package dev.sluice.hbase.pace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class TokenBucketTest {
  private static final long SECOND = 1_000_000_000L;

  @Test
  void whoTakesWaitsForWhatWasTaken() {
    TokenBucket bucket = new TokenBucket(1000, 0);
    bucket.take(500);
    assertEquals(SECOND / 2, bucket.waitNanos());
    bucket.advance(1000, SECOND / 4);
    assertEquals(SECOND / 4, bucket.waitNanos());
    bucket.advance(1000, SECOND / 2);
    assertEquals(0, bucket.waitNanos());
  }

  @Test
  void aChangeOfTheRateHasItsEffectOnAWaitThatHasBegun() {
    TokenBucket bucket = new TokenBucket(1, 0);
    bucket.take(65_536);
    bucket.advance(65_536, SECOND);
    assertEquals(SECOND, bucket.waitNanos(), SECOND / 1000.0);
  }

  @Test
  void aLongStallIsNotMadeUpFor() {
    TokenBucket bucket = new TokenBucket(1000, 0);
    bucket.advance(1000, 100 * SECOND);
    bucket.take(1000);
    assertEquals(1 - TokenBucket.CATCH_UP_SECONDS, bucket.waitNanos() / 1e9, 1e-6);
  }

  @Test
  void aTinyRateDoesNotOverflow() {
    TokenBucket bucket = new TokenBucket(Double.MIN_NORMAL, 0);
    bucket.take(Long.MAX_VALUE);
    assertTrue(bucket.waitNanos() > 0);
  }

  @Property
  void overAnyTimeNoMoreIsTakenThanTheRateAllows(
      @ForAll @DoubleRange(min = 1e3, max = 1e9) double rate,
      @ForAll @Size(min = 1, max = 200) List<@IntRange(min = 1, max = 1 << 20) Integer> chunks,
      @ForAll @IntRange(max = 1_000_000) int delayNanos) {
    TokenBucket bucket = new TokenBucket(rate, 0);
    long now = 0;
    double taken = 0;
    for (int chunk : chunks) {
      bucket.advance(rate, now);
      bucket.take(chunk);
      taken += chunk;
      // Whoever waits comes back a little late.
      now += bucket.waitNanos() + delayNanos;
    }
    double allowed = rate * (now / 1e9 + TokenBucket.CATCH_UP_SECONDS);
    assertTrue(taken <= allowed * (1 + 1e-6) + 1, taken + " of " + allowed);
  }

  @Property
  void delaysOfASchedulerAreMadeUpFor(
      @ForAll @DoubleRange(min = 1e6, max = 1e8) double rate,
      @ForAll @IntRange(max = 400_000) int delayNanos) {
    TokenBucket bucket = new TokenBucket(rate, 0);
    long now = 0;
    int count = 500;
    int chunk = 64 << 10;
    for (int i = 0; i < count; i++) {
      bucket.advance(rate, now);
      bucket.take(chunk);
      long wait = bucket.waitNanos();
      now += wait == 0 ? 0 : wait + delayNanos;
    }
    double reached = count * (double) chunk / (now / 1e9);
    assertEquals(1, reached / rate, 0.02);
  }
}
