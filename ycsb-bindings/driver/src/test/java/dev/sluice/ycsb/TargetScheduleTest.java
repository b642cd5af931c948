package dev.sluice.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TargetScheduleTest {
  private static final long SECOND = 1_000_000_000;

  @ParameterizedTest
  @CsvSource({
    // operation, milliseconds; 10 per second for 2 s, then 100 per second for 1 s: 120 per cycle
    "0, 0",
    "1, 100",
    "19, 1900",
    "20, 2000",
    "21, 2010",
    "119, 2990",
    "120, 3000",
    "121, 3100",
    "240, 6000",
    "1200000, 30000000",
  })
  void operationIsDueByThePhasesBeforeIt(long operation, long milliseconds) {
    TargetSchedule schedule = TargetSchedule.parse("2s:10,1s:100");
    assertEquals(milliseconds, schedule.dueNanos(operation) / 1_000_000);
  }

  @Test
  void nothingIsDueInAPause() {
    TargetSchedule schedule = TargetSchedule.parse("1s:10,5s:0");
    assertEquals(SECOND * 9 / 10, schedule.dueNanos(9));
    assertEquals(6 * SECOND, schedule.dueNanos(10));
    assertEquals(10, schedule.operationsDue(SECOND));
    assertEquals(10, schedule.operationsDue(5 * SECOND));
    assertEquals(11, schedule.operationsDue(6 * SECOND));
    assertEquals(0, TargetSchedule.parse("5s:0,1s:10").operationsDue(SECOND));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"60s:250,10s:1500", "0.5s:333.3,7s:0,3s:0.7", "1s:1", "1s:10,5s:0", "2s:0,1s:7"})
  void dueTimesAndCountsAreInverse(String text) {
    TargetSchedule schedule = TargetSchedule.parse(text);
    long last = -1;
    for (long operation = 0; operation < 5000; operation++) {
      long due = schedule.dueNanos(operation);
      assertTrue(due >= last, "operation " + operation + " is due before the one before it");
      assertTrue(schedule.operationsDue(due) >= operation + 1, "at that of " + operation);
      // A microsecond for rounding.
      assertTrue(schedule.operationsDue(due - 1000) <= operation, "before that of " + operation);
      last = due;
    }
  }

  @Test
  void constantIsTheSameAllTheTime() {
    TargetSchedule schedule = TargetSchedule.constant(250);
    assertEquals(1_000_000 * SECOND / 250, schedule.dueNanos(1_000_000));
    assertEquals(2501, schedule.operationsDue(10 * SECOND));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "60:250", "60s", "60s:", ":250", "60s:250,", "-1s:5", "1s:-5", "1m:5", "1s:x"})
  void otherTextIsRefusedWithAnExample(String text) {
    var e = assertThrows(SettingException.class, () -> TargetSchedule.parse(text));
    assertTrue(e.getMessage().contains("60s:250,10s:1500"), e.getMessage());
  }

  @ParameterizedTest
  @ValueSource(strings = {"1s:0", "0s:100", "0s:0,5s:0"})
  void scheduleWithoutOperationsIsRefused(String text) {
    assertThrows(SettingException.class, () -> TargetSchedule.parse(text));
  }
}
