package dev.sluice.hbase.pace;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.local.lease.Scope;
import org.junit.jupiter.api.Test;

class OperationTest {
  private static final long START_NANOS = 7_000_000_000L;

  private final Operation operation = new Operation("a", new Scope("t", "f"), START_NANOS);

  @Test
  void ageCountsFromTheStart() {
    assertEquals(0, operation.ageSecondsAt(START_NANOS));
    assertEquals(1.5, operation.ageSecondsAt(START_NANOS + 1_500_000_000L));
  }

  @Test
  void noAgeIsNegative() {
    assertEquals(0, operation.ageSecondsAt(START_NANOS - 17_240L));
  }

  @Test
  void noRateIsNegative() {
    operation.read(1000);
    assertEquals(0, operation.bytesPerSecondAt(START_NANOS - 17_240L));
  }
}
