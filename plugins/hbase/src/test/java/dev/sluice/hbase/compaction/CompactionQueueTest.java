package dev.sluice.hbase.compaction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.lease.FakeClock;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CompactionQueueTest {
  private final FakeClock clock = new FakeClock();
  private final LeaseStore leases = new LeaseStore(clock);
  private final List<String> handedBack = new ArrayList<>();
  private long debtBytes;
  private boolean mustRun;
  private boolean open = true;
  private final CompactionQueue queue =
      new CompactionQueue(leases, clock, scope -> debtBytes, () -> mustRun);

  private void set(Scope scope, SettingName name, double number) throws Exception {
    leases.set("compaction", scope, Setting.of(name, number), "test", 60, true);
  }

  private Candidate candidate(String key, String table, int priority) {
    return new Candidate(
        key,
        new Scope(table, "f"),
        () -> open,
        0,
        false,
        priority,
        clock.getAsLong(),
        0,
        () -> handedBack.add(key));
  }

  private boolean keeps(String key) {
    return queue.keeps(candidate(key, "t", 1));
  }

  @Test
  void withoutOrdersNothingIsKept() {
    assertFalse(keeps("a"));
  }

  @Test
  void aTaskIsKeptUntilTheDebtIsThere() throws Exception {
    set(Scope.ofTable("t"), SettingName.DEFER_UNTIL_DEBT_BYTES, 100);
    assertTrue(keeps("a"));
    assertFalse(queue.keeps(candidate("b", "u", 1)));
    queue.release();
    assertEquals(List.of(), handedBack);
    debtBytes = 100;
    queue.release();
    assertEquals(List.of("a"), handedBack);
    assertEquals(List.of(), queue.inOrder());
  }

  @Test
  void aTaskIsKeptNoLongerThanItsOrder() throws Exception {
    set(Scope.SERVER, SettingName.DEFER_UNTIL_DEBT_BYTES, 100);
    assertTrue(keeps("a"));
    clock.advanceSeconds(60);
    queue.release();
    assertEquals(List.of("a"), handedBack);
    assertFalse(keeps("a"));
  }

  @Test
  void safetyAndTheEndOfItsRegionReleaseIt() throws Exception {
    set(Scope.SERVER, SettingName.DEFER_UNTIL_DEBT_BYTES, 100);
    assertTrue(keeps("a"));
    mustRun = true;
    queue.release();
    mustRun = false;
    assertTrue(keeps("b"));
    open = false;
    queue.release();
    assertEquals(List.of("a", "b"), handedBack);
  }

  @Test
  void noMoreRunThanTheConcurrency() throws Exception {
    set(Scope.SERVER, SettingName.CONCURRENCY, 2);
    assertFalse(keeps("a"));
    assertFalse(keeps("b"));
    assertTrue(keeps("c"), "two are about to run");
    queue.started("1", "a", new Scope("t", "f"));
    queue.started("2", "b", new Scope("t", "f"));
    assertTrue(keeps("d"), "two run");
    queue.finished("1");
    queue.release();
    assertEquals(List.of("c"), handedBack);
    assertFalse(keeps("c"), "what was released may run");
    queue.release();
    assertEquals(List.of("c"), handedBack);
    queue.started("3", "c", new Scope("t", "f"));
    queue.finished("2");
    queue.finished("3");
    queue.release();
    assertEquals(List.of("c", "d"), handedBack);
  }

  @Test
  void theConcurrencyOfATableDoesNotBindOthers() throws Exception {
    set(Scope.ofTable("t"), SettingName.CONCURRENCY, 1);
    assertFalse(keeps("a"));
    assertTrue(keeps("b"));
    assertFalse(queue.keeps(candidate("c", "u", 1)));
  }

  @Test
  void aReleasedTaskThatNeverBeginsGivesItsPlaceUp() throws Exception {
    set(Scope.SERVER, SettingName.CONCURRENCY, 1);
    assertFalse(keeps("a"));
    assertTrue(keeps("b"));
    clock.advanceSeconds(31);
    queue.release();
    assertEquals(List.of("b"), handedBack);
  }

  @Test
  void higherPriorityGoesFirstThenTheStoresOwnThenTheOldest() throws Exception {
    set(Scope.SERVER, SettingName.DEFER_UNTIL_DEBT_BYTES, 100);
    set(Scope.ofTable("u"), SettingName.PRIORITY, 5);
    queue.keeps(candidate("late", "t", 3));
    clock.advanceSeconds(1);
    queue.keeps(candidate("later", "t", 3));
    queue.keeps(candidate("urgent", "t", -2));
    queue.keeps(candidate("ordered", "u", 9));
    assertEquals(
        List.of("ordered", "urgent", "late", "later"),
        queue.inOrder().stream().map(Candidate::key).toList());
    debtBytes = 100;
    queue.release();
    assertEquals(List.of("ordered", "urgent", "late", "later"), handedBack);
  }

  @Test
  void allTasksOfAStoreGoTogether() throws Exception {
    set(Scope.SERVER, SettingName.DEFER_UNTIL_DEBT_BYTES, 100);
    assertTrue(keeps("a"));
    assertTrue(keeps("a"));
    set(Scope.SERVER, SettingName.CONCURRENCY, 1);
    debtBytes = 100;
    queue.release();
    assertEquals(List.of("a", "a"), handedBack);
    assertFalse(keeps("a"));
    assertFalse(keeps("a"));
  }

  @Test
  void startGoesPastDeferralAndConcurrency() throws Exception {
    set(Scope.SERVER, SettingName.DEFER_UNTIL_DEBT_BYTES, 100);
    set(Scope.SERVER, SettingName.CONCURRENCY, 1);
    queue.started("1", "x", new Scope("t", "f"));
    assertTrue(keeps("a"));
    queue.start("a", new Scope("t", "f"));
    assertEquals(List.of("a"), handedBack);
    assertFalse(keeps("a"));
  }

  @Test
  void whatIsGivenBackTakesNoPlace() throws Exception {
    set(Scope.SERVER, SettingName.DEFER_UNTIL_DEBT_BYTES, 100);
    set(Scope.SERVER, SettingName.CONCURRENCY, 1);
    assertTrue(keeps("a"));
    assertTrue(keeps("b"));
    queue.giveBack("a");
    assertEquals(List.of("a"), handedBack);
    debtBytes = 100;
    queue.release();
    assertEquals(List.of("a", "b"), handedBack);
  }

  @Test
  void releaseAllLeavesNothing() throws Exception {
    set(Scope.SERVER, SettingName.DEFER_UNTIL_DEBT_BYTES, 100);
    assertTrue(keeps("a"));
    queue.releaseAll();
    assertEquals(List.of("a"), handedBack);
    assertEquals(List.of(), queue.inOrder());
  }
}
