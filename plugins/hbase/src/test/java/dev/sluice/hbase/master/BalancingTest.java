package dev.sluice.hbase.master;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.lease.FakeClock;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import dev.sluice.local.protocol.Refusal;
import dev.sluice.local.protocol.SnapshotMembers;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BalancingTest {
  private static final Setting HOLD = Setting.of(SettingName.HOLD);

  private final FakeClock clock = new FakeClock();
  private final LeaseStore leases = new LeaseStore(clock);
  private final Balancing balancing = new Balancing(leases, clock, 330);

  private void hold(double seconds) throws Exception {
    leases.set(Balancing.KIND, Scope.SERVER, HOLD, "policy/night", seconds, false);
  }

  private SnapshotMembers snapshot() {
    return SnapshotMembers.of(balancing);
  }

  private Map<?, ?> task() {
    assertEquals(1, snapshot().tasks().size());
    return (Map<?, ?>) snapshot().tasks().get(0);
  }

  @Test
  void aRunOfTheChoreIsPutOffForAsLongAsTheLeaseHolds() throws Exception {
    hold(60);
    PutOffException putOff = assertThrows(PutOffException.class, balancing::beginByChore);
    assertTrue(putOff.getMessage().contains("\"policy/night\""), putOff.getMessage());
    clock.advanceSeconds(59);
    assertThrows(PutOffException.class, balancing::beginByChore);
    clock.advanceSeconds(1);
    balancing.beginByChore();
    assertEquals(2, snapshot().figure("balancing_runs_put_off_total"));
  }

  @Test
  void aRunThatIsAskedForIsNeverPutOff() throws Exception {
    hold(60);
    balancing.begin();
    assertEquals("running", task().get("state"));
  }

  @Test
  void aRunThatWasPutOffIsShownUntilOneBegins() throws Exception {
    assertTrue(snapshot().tasks().isEmpty());
    hold(60);
    assertThrows(PutOffException.class, balancing::beginByChore);
    clock.advanceSeconds(30);
    assertThrows(PutOffException.class, balancing::beginByChore);
    assertEquals("deferred", task().get("state"));
    assertEquals(30.0, task().get("throttled_seconds"));
    clock.advanceSeconds(30);
    assertEquals("queued", task().get("state"));
    balancing.beginByChore();
    assertEquals("running", task().get("state"));
    assertEquals(0.0, task().get("age_seconds"));
    balancing.end(3);
    assertTrue(snapshot().tasks().isEmpty());
  }

  @Test
  void whatRunsHaveMovedIsCounted() throws Exception {
    assertNull(snapshot().figure("balancing_last_run_age_seconds"));
    for (int moved : new int[] {3, 2}) {
      balancing.beginByChore();
      balancing.end(moved);
    }
    clock.advanceSeconds(7);
    assertEquals(2, snapshot().figure("balancing_runs_total"));
    assertEquals(5, snapshot().figure("balancing_moved_regions_total"));
    assertEquals(2, snapshot().figure("balancing_last_run_moved_regions"));
    assertEquals(7, snapshot().figure("balancing_last_run_age_seconds"));
  }

  @Test
  void aRunThatNeverToldItsEndIsNotShownForever() throws Exception {
    balancing.beginByChore();
    clock.advanceSeconds(329);
    assertEquals("running", task().get("state"));
    clock.advanceSeconds(1);
    assertTrue(snapshot().tasks().isEmpty());
  }

  @Test
  void aTableAloneCannotBeHeld() throws Exception {
    balancing.checkOrder(Scope.SERVER, HOLD);
    Refusal refusal =
        assertThrows(Refusal.class, () -> balancing.checkOrder(Scope.ofTable("t"), HOLD));
    assertEquals(-32003, refusal.number());
  }
}
