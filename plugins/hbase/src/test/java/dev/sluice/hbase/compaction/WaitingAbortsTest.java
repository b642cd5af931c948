package dev.sluice.hbase.compaction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Set;
import org.junit.jupiter.api.Test;

class WaitingAbortsTest {
  private final WaitingAborts aborts = new WaitingAborts();

  @Test
  void whatWasRequestedBeforeIsMeantAndNothingElse() {
    aborts.add("r#f", 1000, "by order");
    assertTrue(aborts.covers("r#f", 1000));
    assertFalse(aborts.covers("r#f", 1001));
    assertFalse(aborts.covers("r#g", 1000));
    assertEquals("by order", aborts.reason("r#f"));
  }

  @Test
  void itCanBeTakenBackAndEndsWithItsRegion() {
    aborts.add("r#f", 1000, "by order");
    aborts.add("s#f", 1000, "by order");
    aborts.cancel("r#f");
    assertFalse(aborts.covers("r#f", 1000));
    aborts.retain(Set.of("r#f"));
    assertFalse(aborts.covers("s#f", 1000));
  }
}
