package dev.sluice.hbase.master;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.lease.FakeClock;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.protocol.Refusal;
import dev.sluice.local.protocol.SnapshotMembers;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class TableCompactionsTest {
  private static final Scope ORDERS = Scope.ofTable("orders");

  private final FakeClock clock = new FakeClock();
  private final Queue<Runnable> queue = new ArrayDeque<>();
  private final List<String> requested = new ArrayList<>();
  private boolean isEnabled = true;
  private boolean isStopped;
  private boolean hasLostServers;
  private final TableCompactions compactions =
      new TableCompactions(this::check, this::request, this::queue, clock);

  private void check(Scope scope) throws Refusal {
    if (!isEnabled) {
      throw Refusal.refused("not enabled", "");
    }
  }

  private void request(Scope scope, boolean isMajor) throws IOException {
    if (hasLostServers) {
      throw new IOException("no route");
    }
    requested.add((isMajor ? "major " : "minor ") + scope.text());
  }

  private void queue(Runnable task) {
    if (isStopped) {
      throw new RejectedExecutionException();
    }
    queue.add(task);
  }

  private Map<?, ?> task() {
    List<?> tasks = SnapshotMembers.of(compactions).tasks();
    assertEquals(1, tasks.size());
    return (Map<?, ?>) tasks.get(0);
  }

  private boolean hasTasks() {
    return !SnapshotMembers.of(compactions).tasks().isEmpty();
  }

  @Test
  void aTableOrAFamilyIsRequestedAsOrdered() throws Exception {
    compactions.start(ORDERS, "");
    compactions.start(new Scope("orders", "f"), "minor");
    compactions.start(Scope.ofTable("items"), "major");
    queue.forEach(Runnable::run);
    assertEquals(List.of("major orders", "minor orders/f", "major items"), requested);
    assertTrue(!hasTasks());
  }

  @Test
  void allTablesAreNeverStartedByOneOrder() {
    Refusal refusal = assertThrows(Refusal.class, () -> compactions.start(Scope.SERVER, "minor"));
    assertEquals(-32003, refusal.number());
    assertTrue(queue.isEmpty());
  }

  @Test
  void oneIsShownUntilItIsRequested() throws Exception {
    compactions.start(ORDERS, "minor");
    clock.advanceSeconds(2);
    assertEquals("queued", task().get("state"));
    assertEquals("minor", task().get("phase"));
    assertEquals(2.0, task().get("age_seconds"));
    queue.remove().run();
    assertTrue(!hasTasks());
  }

  @Test
  void theSameScopeIsNotRequestedTwiceAtATime() throws Exception {
    compactions.start(ORDERS, "minor");
    Refusal refusal = assertThrows(Refusal.class, () -> compactions.start(ORDERS, "major"));
    assertEquals(-32003, refusal.number());
    queue.remove().run();
    compactions.start(ORDERS, "major");
    assertEquals(1, queue.size());
  }

  @Test
  void aTableThatCannotBeCompactedIsRefused() {
    isEnabled = false;
    assertThrows(Refusal.class, () -> compactions.start(ORDERS, ""));
    assertTrue(queue.isEmpty() && !hasTasks());
  }

  @Test
  void aFailureIsShownForSomeSecondsAndDoesNotBlockTheNext() throws Exception {
    hasLostServers = true;
    compactions.start(ORDERS, "");
    clock.advanceSeconds(60);
    queue.remove().run();
    assertEquals("failed", task().get("state"));
    clock.advanceSeconds(9);
    assertEquals("failed", task().get("state"));
    clock.advanceSeconds(2);
    assertTrue(!hasTasks());
    hasLostServers = false;
    compactions.start(ORDERS, "");
    queue.remove().run();
    assertEquals(List.of("major orders"), requested);
  }

  @Test
  void aMasterThatStopsTakesNone() {
    isStopped = true;
    Refusal refusal = assertThrows(Refusal.class, () -> compactions.start(ORDERS, ""));
    assertEquals(-32005, refusal.number());
    assertTrue(!hasTasks());
  }

  @Test
  void aQueueIsBounded() throws Exception {
    for (int table = 0; table < 100; table++) {
      compactions.start(Scope.ofTable("t" + table), "");
    }
    Refusal refusal = assertThrows(Refusal.class, () -> compactions.start(ORDERS, ""));
    assertEquals(-32003, refusal.number());
  }
}
