package dev.sluice.hbase.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.lease.FakeClock;
import dev.sluice.local.lease.LeaseConflictException;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import dev.sluice.local.protocol.Refusal;
import dev.sluice.local.protocol.SnapshotMembers;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.hbase.TableName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class CacheReservationsTest {
  private static final Scope HOT = new Scope("orders", "hot");
  private static final Scope COLD = new Scope("orders", "cold");
  private static final double TIME_TO_LIVE_SECONDS = 5;

  private final FakeClock clock = new FakeClock();
  private final LeaseStore leases = new LeaseStore(clock);
  private final FamilyBlockCache cache = Caches.cache();
  private final CacheReservations reservations = new CacheReservations();
  private final AtomicBoolean isStopping = new AtomicBoolean();
  private Set<CacheScope> open = Set.of();

  @BeforeEach
  void attach() {
    reservations.attach(cache, leases, Runnable::run, isStopping::get, () -> open);
  }

  @AfterEach
  void shutDown() {
    cache.shutdown();
  }

  private static Setting mib(double mib) {
    return Setting.of(SettingName.RESERVED_BYTES, mib * Caches.MIB);
  }

  private void order(Scope scope, double mib) throws Refusal, LeaseConflictException {
    reservations.checkOrder(scope, mib(mib));
    give(scope, mib);
  }

  private void give(Scope scope, double mib) throws LeaseConflictException {
    leases.set("cache", scope, mib(mib), "policy/test", TIME_TO_LIVE_SECONDS, false);
  }

  private void passSeconds(double seconds) {
    clock.advanceSeconds(seconds);
    leases.sweep();
  }

  @Test
  void aLeaseReservesAndAnotherSettingResizes() throws Exception {
    order(HOT, 8);
    assertEquals(Map.of(Caches.HOT, 8 * Caches.MIB), cache.reservations());
    order(HOT, 4);
    assertEquals(Map.of(Caches.HOT, 4 * Caches.MIB), cache.reservations());
  }

  @Test
  void aLeaseThatEndsGivesTheMemoryBackWithItsBlocks() throws Exception {
    order(HOT, 8);
    for (int block = 0; block < 300; block++) {
      Caches.read(cache, Caches.HOT, block);
    }
    passSeconds(TIME_TO_LIVE_SECONDS - 0.001);
    assertEquals(1, cache.reservations().size());
    passSeconds(0.001);
    assertTrue(cache.reservations().isEmpty());
    assertEquals(300, Caches.report(cache, Caches.HOT).blocks());
  }

  @Test
  void aLeaseThatIsRenewedGoesOn() throws Exception {
    order(HOT, 8);
    passSeconds(4);
    order(HOT, 8);
    passSeconds(4);
    assertEquals(1, cache.reservations().size());
  }

  @Test
  void aSmallerCacheShrinksWhatIsReservedAndEndsNoLease() throws Exception {
    order(HOT, 16);
    order(COLD, 8);
    cache.setMaxSize(15 * Caches.MIB);
    order(HOT, 16);
    assertEquals(2, leases.all().size());
    assertEquals(
        Map.of(Caches.HOT, 8 * Caches.MIB, Caches.COLD, 4 * Caches.MIB), cache.reservations());
    assertThrows(Refusal.class, () -> order(HOT, 17));
  }

  @Test
  void memoryMayChangeHandsBetweenFamilies() throws Exception {
    order(HOT, 20);
    order(COLD, 5);
    leases.set("cache", HOT, mib(5), "policy/test", TIME_TO_LIVE_SECONDS, false);
    order(COLD, 20);
    assertEquals(
        Map.of(Caches.HOT, 5 * Caches.MIB, Caches.COLD, 20 * Caches.MIB), cache.reservations());
  }

  @Test
  void whatIsBeyondTheBoundIsRefusedBeforeALeaseIsGiven() throws Exception {
    order(HOT, 20);
    Refusal refusal = assertThrows(Refusal.class, () -> order(COLD, 10));
    assertEquals(-32003, refusal.number());
    assertEquals(1, leases.all().size());
  }

  @Test
  void allOfTheServerIsNoScopeOfAReservation() {
    Refusal refusal = assertThrows(Refusal.class, () -> order(Scope.SERVER, 2));
    assertEquals(-32003, refusal.number());
  }

  @Test
  void ofTwoLeasesThatTogetherAreTooMuchOneEnds() throws Exception {
    // As if both orders had been checked before either lease was given.
    give(HOT, 20);
    give(COLD, 20);
    assertEquals(1, leases.all().size());
    assertEquals(1, cache.reservations().size());
  }

  /** Orders that are taken, and whose blocks have not begun to move. */
  private CacheReservations waiting(LeaseStore orders) {
    CacheReservations made = new CacheReservations();
    made.attach(cache, orders, work -> {}, isStopping::get, () -> open);
    return made;
  }

  @Test
  void anOrderIsCheckedAgainstThoseWhoseBlocksHaveNotMovedYet() throws Exception {
    LeaseStore orders = new LeaseStore(clock);
    CacheReservations made = waiting(orders);
    orders.set("cache", HOT, mib(20), "policy/test", TIME_TO_LIVE_SECONDS, false);
    assertThrows(Refusal.class, () -> made.checkOrder(COLD, mib(10)));
    orders.set("cache", HOT, mib(5), "policy/test", TIME_TO_LIVE_SECONDS, false);
    made.checkOrder(COLD, mib(10));
  }

  @Test
  void thereAreNoMoreThanSoManyReservations() throws Exception {
    LeaseStore orders = new LeaseStore(clock);
    CacheReservations made = waiting(orders);
    for (int table = 0; table < CacheParts.MOST_RESERVATIONS; table++) {
      made.checkOrder(HOT, mib(1));
      Scope scope = Scope.ofTable("t" + table);
      orders.set("cache", scope, mib(0.01), "policy/test", TIME_TO_LIVE_SECONDS, false);
    }
    Refusal refusal = assertThrows(Refusal.class, () -> made.checkOrder(HOT, mib(1)));
    assertTrue(refusal.getMessage().startsWith("there are 100 other"), refusal.getMessage());
    made.checkOrder(HOT, mib(0));
  }

  @Test
  void halfAByteIsLessThanTheLeast() {
    Setting half = Setting.of(SettingName.RESERVED_BYTES, 0.5);
    Refusal refusal = assertThrows(Refusal.class, () -> reservations.checkOrder(HOT, half));
    assertTrue(refusal.getMessage().startsWith("a reservation of 0.5 bytes"), refusal.getMessage());
  }

  @Test
  void neitherLeasesNorFamiliesWaitForBlocksThatMove() throws Exception {
    LeaseStore orders = new LeaseStore(clock);
    ExecutorService mover = CacheReservations.newThread();
    new CacheReservations().attach(cache, orders, mover, isStopping::get, () -> open);
    AtomicBoolean isSlow = new AtomicBoolean();
    CountDownLatch begins = new CountDownLatch(1);
    CountDownLatch goesOn = new CountDownLatch(1);
    try {
      orders.set("cache", HOT, mib(8), "policy/test", TIME_TO_LIVE_SECONDS, false);
      awaitReservations(1);
      Runnable wait = () -> awaitIf(isSlow.get(), begins, goesOn);
      Caches.view(cache, Caches.HOT)
          .cacheBlock(Caches.key(Caches.HOT, 0), new CountedBlock(Caches.BLOCK_BYTES, wait));
      isSlow.set(true);
      clock.advanceSeconds(TIME_TO_LIVE_SECONDS);
      inTime(orders::sweep);
      assertTrue(begins.await(30, TimeUnit.SECONDS));
      inTime(() -> Caches.view(cache, Caches.COLD));
      inTime(() -> assertTrue(cache.reservations().isEmpty()));
      assertEquals(2, cache.parts().size());
    } finally {
      goesOn.countDown();
      mover.shutdown();
    }
    assertTrue(mover.awaitTermination(30, TimeUnit.SECONDS));
    assertEquals(1, cache.parts().size());
    assertEquals(1, Caches.report(cache, Caches.HOT).blocks());
  }

  private static void awaitIf(boolean isSlow, CountDownLatch begins, CountDownLatch goesOn) {
    if (!isSlow) {
      return;
    }
    begins.countDown();
    try {
      goesOn.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private void awaitReservations(int count) {
    while (cache.reservations().size() != count) {
      assertTrue(!Thread.currentThread().isInterrupted(), "time is over");
      Thread.onSpinWait();
    }
  }

  private static void inTime(Runnable work) throws Exception {
    CompletableFuture.runAsync(work).get(30, TimeUnit.SECONDS);
  }

  @Test
  void aServerThatStopsMovesNoBlocksBack() throws Exception {
    order(HOT, 8);
    isStopping.set(true);
    leases.end(lease -> true);
    assertEquals(1, cache.reservations().size());
  }

  @Test
  void leasesOfOtherKindsAreNoReservations() throws Exception {
    leases.set(
        "compaction",
        HOT,
        Setting.of(SettingName.HOLD),
        "policy/test",
        TIME_TO_LIVE_SECONDS,
        false);
    assertTrue(cache.reservations().isEmpty());
  }

  @Test
  void aSnapshotShowsEachFamily() throws Exception {
    order(HOT, 8);
    for (int pass = 0; pass < 2; pass++) {
      for (int block = 0; block < 10; block++) {
        Caches.read(cache, Caches.HOT, block);
      }
    }
    SnapshotMembers members = SnapshotMembers.of(reservations);
    assertEquals(10, members.figure("cache_orders_2fhot_hits_total"));
    assertEquals(10, members.figure("cache_orders_2fhot_misses_total"));
    assertEquals(0, members.figure("cache_orders_2fhot_evictions_total"));
    assertTrue(members.figure("cache_orders_2fhot_bytes") >= 10 * Caches.BLOCK_BYTES);
    assertEquals(8 * Caches.MIB, members.figure("cache_orders_2fhot_reserved_bytes"));
    assertEquals(8 * Caches.MIB, members.figure("cache_reserved_bytes"));
    assertEquals(Caches.TOTAL_BYTES, members.figure("cache_capacity_bytes"));
  }

  @Test
  void tablesThatAreGoneKeepNoFamilyOutOfASnapshot() {
    for (int table = 0; table < 100; table++) {
      CacheScope gone = new CacheScope(TableName.valueOf("gone" + table), "f");
      Caches.read(cache, gone, 0);
      Caches.read(cache, gone, 0);
    }
    Caches.read(cache, Caches.HOT, 0);
    open = Set.of(Caches.HOT);
    SnapshotMembers members = SnapshotMembers.of(reservations);
    assertEquals(1, members.figure("cache_orders_2fhot_misses_total"));
  }
}
