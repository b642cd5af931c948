package dev.sluice.hbase.compaction;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.lease.FakeClock;
import org.junit.jupiter.api.Test;

class RequestClockTest {
  private static final long HOUR_MILLIS = 3_600_000;

  private final FakeClock monotonic = new FakeClock();
  private long millis = 1_700_000_000_000L;
  private final RequestClock clock = new RequestClock(() -> millis, monotonic);
  private final RequestClock.Moment moment = clock.now();

  private void pass(long seconds) {
    monotonic.advanceSeconds(seconds);
    millis += 1000 * seconds;
  }

  @Test
  void whatWasRequestedUntilThenIsMeantHoweverLateThatIsAsked() {
    pass(3600);
    assertTrue(clock.wasUntil(moment, moment.millis()));
    assertFalse(clock.wasUntil(moment, moment.millis() + 1));
  }

  @Test
  void whatIsRequestedAfterTheClockWasSetBackIsNotMeant() {
    pass(10);
    millis -= HOUR_MILLIS;
    assertFalse(clock.wasUntil(moment, millis));
    pass(3590);
    assertFalse(clock.wasUntil(moment, millis));
    assertTrue(clock.wasUntil(moment, moment.millis() - HOUR_MILLIS));
  }

  @Test
  void aClockThatIsSetForwardChangesNothing() {
    millis += HOUR_MILLIS;
    assertTrue(clock.wasUntil(moment, moment.millis()));
    assertFalse(clock.wasUntil(moment, millis));
  }

  @Test
  void readingTheTwoClocksOneAfterTheOtherIsNoSettingBack() {
    monotonic.advanceNanos(900_000_000);
    assertTrue(clock.wasUntil(moment, moment.millis()));
  }
}
