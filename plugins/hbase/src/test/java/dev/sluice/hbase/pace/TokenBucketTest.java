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

  /** Runs steps of 64 KiB until a time, and stands still for so long once in each second. */
  private static double takenBytes(TokenBucket bucket, double rate, long end, long stallNanos) {
    double taken = 0;
    long nextStall = 0;
    for (long now = 0; now < end; now += bucket.waitNanos()) {
      if (now >= nextStall) {
        now += stallNanos;
        nextStall = (now / SECOND + 1) * SECOND;
      }
      bucket.advance(rate, now);
      bucket.take(64 << 10);
      taken += 64 << 10;
    }
    return taken;
  }

  @Property
  void stallsOfABusyMachineAreMadeUpFor(
      @ForAll @DoubleRange(min = 4e6, max = 1e8) double rate,
      @ForAll @IntRange(max = 140_000_000) int stallNanos) {
    double taken = takenBytes(new TokenBucket(rate, 0), rate, 5 * SECOND, stallNanos);
    assertEquals(1, taken / (5 * rate), 0.03);
  }

  @Test
  void whatFollowsAStallIsHardlyFasterThanTheRate() {
    double rate = 10e6;
    TokenBucket bucket = new TokenBucket(rate, 0);
    long stallNanos = 10 * SECOND;
    double tenth = takenBytes(bucket, rate, stallNanos + SECOND / 10, stallNanos);
    double atOnce = rate * TokenBucket.CATCH_UP_SECONDS;
    assertEquals(atOnce + rate / 10 * (1 + TokenBucket.LATER_SHARE), tenth, 2 * (64 << 10));
  }

  @Test
  void whatWasMissedAtAnotherRateIsNotMadeUpFor() {
    TokenBucket bucket = new TokenBucket(1000, 0);
    bucket.advance(1000, 100 * SECOND);
    bucket.advance(10, 100 * SECOND);
    bucket.take(10);
    bucket.advance(10, 100 * SECOND + SECOND / 2);
    assertEquals(0.5 - TokenBucket.CATCH_UP_SECONDS, bucket.waitNanos() / 1e9, 1e-6);
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
    double most = TokenBucket.CATCH_UP_SECONDS + TokenBucket.LATER_SECONDS;
    double allowed = rate * (now / 1e9 + most);
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
