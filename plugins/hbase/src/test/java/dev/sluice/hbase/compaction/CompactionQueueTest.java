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
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class CompactionQueueTest {
  private final FakeClock clock = new FakeClock();
  private final LeaseStore leases = new LeaseStore(clock);
  private final List<String> handedBack = new ArrayList<>();
  private long debtBytes;
  private boolean mustRun;
  private boolean open = true;
  private final long startNanos = clock.getAsLong();
  private long setBackMillis;
  private final RequestClock requests = new RequestClock(this::storeMillis, clock);
  private final CompactionQueue queue =
      new CompactionQueue(leases, clock, requests, scope -> debtBytes, () -> mustRun);

  private long storeMillis() {
    return TimeUnit.NANOSECONDS.toMillis(clock.getAsLong() - startNanos) - setBackMillis;
  }

  private void set(Scope scope, SettingName name, double number) throws Exception {
    leases.set("compaction", scope, Setting.of(name, number), "test", 60, true);
  }

  private Candidate candidate(String key, String table, int priority) {
    return candidate(key, table, priority, 0);
  }

  private Candidate candidate(String key, String table, int priority, long requestedMillis) {
    return new Candidate(
        key,
        new Scope(table, "f"),
        () -> open,
        0,
        false,
        priority,
        clock.getAsLong(),
        requestedMillis,
        () -> handedBack.add(key));
  }

  private boolean keeps(String key) {
    return keeps(key, 0);
  }

  private boolean keeps(String key, long requestedMillis) {
    return queue.keeps(candidate(key, "t", 1, requestedMillis));
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

  /** Its turn has come, and its store has found nothing to do, which nobody says. */
  @Test
  void aReleasedTaskWhoseTurnCameGivesItsPlaceUpSoon() throws Exception {
    set(Scope.SERVER, SettingName.CONCURRENCY, 1);
    queue.started("1", "x", new Scope("t", "f"));
    assertTrue(keeps("a"));
    assertTrue(keeps("b"));
    queue.finished("1");
    queue.release();
    assertFalse(keeps("a"));
    clock.advanceSeconds(2);
    queue.release();
    assertEquals(List.of("a", "b"), handedBack);
  }

  @Test
  void aTaskThatGoesToAnotherQueueOfTheStoreAsksAgain() throws Exception {
    set(Scope.SERVER, SettingName.CONCURRENCY, 1);
    assertFalse(keeps("a", 1));
    assertFalse(keeps("a", 1), "its own place is no other's");
    assertTrue(keeps("a", 2), "another one of the same store");
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
    queue.start("a");
    assertEquals(List.of("a"), handedBack);
    assertFalse(keeps("a"));
  }

  @Test
  void whatIsStartedGoesThroughHoweverLateItsTurnComes() throws Exception {
    set(Scope.SERVER, SettingName.CONCURRENCY, 1);
    queue.started("1", "x", new Scope("t", "f"));
    clock.advanceNanos(TimeUnit.MILLISECONDS.toNanos(5));
    queue.start("a");
    clock.advanceSeconds(50);
    assertFalse(keeps("a", 5));
    // It goes to another queue, and meanwhile an older one of its store begins.
    queue.started("2", "a", new Scope("t", "f"));
    clock.advanceSeconds(5);
    assertFalse(keeps("a", 5));
    assertTrue(keeps("a", 6), "the store has requested this one later");
    queue.retainAdmitted(Set.of());
    queue.started("3", "a", new Scope("t", "f"));
    assertTrue(keeps("a", 5), "the store was closed");
  }

  @Test
  void whatIsRequestedAfterTheClockWasSetBackWasNotStarted() throws Exception {
    set(Scope.SERVER, SettingName.DEFER_UNTIL_DEBT_BYTES, 100);
    clock.advanceSeconds(30);
    queue.start("a");
    setBackMillis = 20_000;
    clock.advanceSeconds(1);
    assertTrue(keeps("a", storeMillis()));
  }

  @Test
  void whatIsStartedTakesNoPlaceBeforeItsTurn() throws Exception {
    set(Scope.SERVER, SettingName.CONCURRENCY, 1);
    queue.start("a");
    assertFalse(keeps("b"));
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
