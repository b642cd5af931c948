package dev.sluice.hbase.compaction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.lease.FakeClock;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class TaskIdsTest {
  private final FakeClock clock = new FakeClock();
  private final TaskIds ids = new TaskIds(clock);

  private String shown(String store) {
    return ids.show(List.of(store)).get(store);
  }

  @Test
  void aTaskKeepsItsNameFromTheQueueToItsEnd() {
    String name = shown("r#f");
    assertTrue(name.startsWith("r#") && !name.contains("f"), name);
    clock.advanceSeconds(3600);
    assertEquals(name, shown("r#f"));
    assertEquals(Optional.of("r#f"), ids.storeOfWaiting(name));
    assertEquals(name, ids.begin("r#f"));
    assertEquals(Optional.empty(), ids.storeOfWaiting(name));
  }

  @Test
  void noNameIsGivenTwice() {
    String first = ids.begin("r#f");
    String second = shown("r#f");
    assertNotEquals(first, second);
    assertEquals(second, ids.begin("r#f"));
    assertNotEquals(second, ids.begin("r#f"));
  }

  @Test
  void whatHasGoneIsForgotten() {
    String name = shown("r#f");
    clock.advanceSeconds(9);
    ids.show(List.of());
    assertEquals(Optional.of("r#f"), ids.storeOfWaiting(name), "it may be between two queues");
    clock.advanceSeconds(1);
    ids.show(List.of());
    assertEquals(Optional.empty(), ids.storeOfWaiting(name));
    assertNotEquals(name, shown("r#f"));
  }
}
