package dev.sluice.hbase.compaction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class FileLimitsTest {
  @Test
  void ordersEndBelowTheBlockingCount() {
    assertEquals(13, new FileLimits(0, 3, 16).end());
    assertTrue(new FileLimits(13, 3, 16).atEnd());
    assertFalse(new FileLimits(12, 3, 16).atEnd());
    assertFalse(new FileLimits(10, 3, 16).belowRelease());
    assertTrue(new FileLimits(9, 3, 16).belowRelease());
  }

  @Property
  void thereIsAlwaysRoomForOneMoreFile(
      @ForAll @IntRange(min = 2, max = 200) int trigger,
      @ForAll @IntRange(min = 3, max = 200) int blocking) {
    FileLimits limits = new FileLimits(blocking - 1, trigger, blocking);
    assertTrue(limits.atEnd());
    assertFalse(limits.belowRelease());
    assertTrue(new FileLimits(1, trigger, blocking).belowRelease());
  }

  @Property
  void whatIsReleasedIsNotAtItsEnd(
      @ForAll @IntRange(max = 300) int files,
      @ForAll @IntRange(min = 2, max = 200) int trigger,
      @ForAll @IntRange(min = 3, max = 200) int blocking) {
    FileLimits limits = new FileLimits(files, trigger, blocking);
    assertFalse(limits.atEnd() && limits.belowRelease());
    assertTrue(limits.share() >= 0 && limits.triggerShare() >= 0 && limits.triggerShare() <= 1);
    assertEquals(limits.atEnd(), limits.share() >= 1);
  }
}
