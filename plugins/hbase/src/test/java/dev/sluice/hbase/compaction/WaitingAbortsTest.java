package dev.sluice.hbase.compaction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.lease.FakeClock;
import java.util.Set;
import org.junit.jupiter.api.Test;

class WaitingAbortsTest {
  private final FakeClock monotonic = new FakeClock();
  private long millis = 1000;
  private final WaitingAborts aborts = new WaitingAborts(new RequestClock(() -> millis, monotonic));

  @Test
  void whatWasRequestedBeforeIsMeantAndNothingElse() {
    aborts.add("r#f", "by order");
    assertTrue(aborts.covers("r#f", 1000));
    assertFalse(aborts.covers("r#f", 1001));
    assertFalse(aborts.covers("r#g", 1000));
    assertEquals("by order", aborts.reason("r#f"));
  }

  /** Else the store would have no compaction until the clock is there again. */
  @Test
  void whatIsRequestedAfterTheClockWasSetBackIsNotMeant() {
    millis = 3_600_000;
    aborts.add("r#f", "by order");
    monotonic.advanceSeconds(1);
    millis = 1000;
    assertFalse(aborts.covers("r#f", millis));
  }

  @Test
  void itCanBeTakenBackAndEndsWithItsRegion() {
    aborts.add("r#f", "by order");
    aborts.add("s#f", "by order");
    aborts.cancel("r#f");
    assertFalse(aborts.covers("r#f", 1000));
    aborts.retain(Set.of("r#f"));
    assertFalse(aborts.covers("s#f", 1000));
  }
}
