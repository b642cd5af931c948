package dev.sluice.tests.linkedlist;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class KeyRangeTest {
  @Property
  void rangesCoverAllKeysWithoutOverlap(@ForAll @IntRange(min = 1, max = 1000) int parts) {
    List<KeyRange> ranges = KeyRange.all(parts);
    assertEquals(parts, ranges.size());
    assertEquals(0, ranges.get(0).start().length);
    assertEquals(0, ranges.get(parts - 1).stop().length);
    for (int next = 1; next < parts; next++) {
      assertArrayEquals(ranges.get(next - 1).stop(), ranges.get(next).start());
      byte[] before = ranges.get(next - 1).start();
      assertTrue(Arrays.compareUnsigned(before, ranges.get(next).start()) < 0);
    }
  }
}
