package dev.sluice.hbase.requests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.lease.FakeClock;
import dev.sluice.local.lease.LeaseConflictException;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import dev.sluice.local.requests.TableLimits;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hbase.thirdparty.com.google.protobuf.Message;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RequestLimitsTest {
  private static final double TIME_TO_LIVE_SECONDS = 5;

  private final FakeClock clock = new FakeClock();
  private final LeaseStore leases = new LeaseStore(clock);
  private final RequestLimits limits = new RequestLimits(clock);
  private final AtomicBoolean isStopping = new AtomicBoolean();
  private TableLimits tables;

  @BeforeEach
  void follow() {
    tables = limits.follow(leases, new RequestedTables(encoded -> ""), isStopping::get);
  }

  private void give(String table, double perSecond) throws LeaseConflictException {
    leases.set(
        TableLimits.KIND,
        Scope.ofTable(table),
        Setting.of(SettingName.RATE_OPERATIONS_PER_SECOND, perSecond),
        "policy/test",
        TIME_TO_LIVE_SECONDS,
        false);
  }

  /** How many of so many calls at once are taken. */
  private int taken(Message call, int calls) {
    int taken = 0;
    for (int i = 0; i < calls; i++) {
      taken += limits.take(call) == 0 ? 1 : 0;
    }
    return taken;
  }

  @Test
  void withoutLeasesEverythingIsTaken() {
    assertEquals(1000, taken(Calls.get("orders"), 1000));
    assertEquals(1000, taken(Calls.get("orders"), 1000));
    assertTrue(tables.counts().isEmpty());
  }

  @Test
  void aServerThatFollowsNoLeasesTakesEverything() {
    assertEquals(0, new RequestLimits(clock).take(Calls.get("orders")));
  }

  @Test
  void aLeaseBoundsItsTableAlone() throws Exception {
    give("orders", 100);
    assertEquals(10, taken(Calls.get("orders"), 50));
    assertEquals(50, taken(Calls.get("carts"), 50));
    assertEquals(50, taken(Calls.nextOfScan(), 50));
    assertEquals(Map.of("orders", new TableLimits.Count(10, 40)), tables.counts());
  }

  @Test
  void tablesDoNotShareTheirBudgets() throws Exception {
    give("orders", 100);
    give("carts", 200);
    assertEquals(10, taken(Calls.get("orders"), 50));
    assertEquals(20, taken(Calls.put("carts"), 50));
  }

  @Test
  void aBatchIsTakenAsAWholeOrNotAtAll() throws Exception {
    give("orders", 100);
    give("carts", 100);
    assertEquals(10, taken(Calls.get("carts"), 10));
    Message both = Calls.batch(Calls.rows("orders", 4), Calls.rows("carts", 4));
    assertTrue(limits.take(both) > 0);
    assertEquals(10, taken(Calls.get("orders"), 50));
    assertEquals(10, tables.counts().get("orders").taken());
  }

  @Test
  void aLeaseThatEndsLetsEverythingThrough() throws Exception {
    give("orders", 1);
    assertEquals(1, taken(Calls.get("orders"), 50));
    // Nobody has looked yet whether it has ended.
    clock.advanceSeconds(TIME_TO_LIVE_SECONDS);
    assertEquals(50, taken(Calls.get("orders"), 50));
    leases.sweep();
    assertTrue(tables.counts().isEmpty());
  }

  @Test
  void aRenewalGoesOnWithTheBudget() throws Exception {
    give("orders", 1);
    assertEquals(1, taken(Calls.get("orders"), 50));
    give("orders", 1);
    assertEquals(0, taken(Calls.get("orders"), 50));
    assertEquals(new TableLimits.Count(1, 99), tables.counts().get("orders"));
  }

  @Test
  void anotherRateHoldsFromTheOrderOn() throws Exception {
    give("orders", 1);
    assertEquals(1, taken(Calls.get("orders"), 50));
    give("orders", 1000);
    clock.advanceSeconds(0.1);
    // What was earned before the order was earned at the other rate.
    taken(Calls.get("orders"), 1);
    clock.advanceSeconds(0.1);
    assertEquals(100, taken(Calls.get("orders"), 500));
  }

  @Test
  void aServerThatStopsTakesEverything() throws Exception {
    give("orders", 1);
    isStopping.set(true);
    assertEquals(50, taken(Calls.get("orders"), 50));
  }
}
