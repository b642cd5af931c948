package dev.sluice.tests.linkedlist;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class PaceTest {
  private static final long SECOND_NANOS = TimeUnit.SECONDS.toNanos(1);

  @Test
  void whatIsEarlyWaits() {
    assertEquals(SECOND_NANOS, new Pace(1000).waitNanos(3000, 2 * SECOND_NANOS));
  }

  @Test
  void whatIsLateDoesNotWait() {
    assertEquals(0, new Pace(1000).waitNanos(3000, 4 * SECOND_NANOS));
  }

  @Test
  void withoutAPaceNothingWaits() {
    assertEquals(0, new Pace(0).waitNanos(3000, 0));
  }
}
