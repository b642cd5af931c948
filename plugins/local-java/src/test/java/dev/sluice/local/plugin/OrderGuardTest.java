package dev.sluice.local.plugin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.lease.FakeClock;
import dev.sluice.local.lease.Lease;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import dev.sluice.local.protocol.Refusal;
import java.util.List;
import org.junit.jupiter.api.Test;

class OrderGuardTest {
  private final LeaseStore leases = new LeaseStore(new FakeClock());
  private final OrderGuard guard = new OrderGuard(leases, "compaction", "Wait.") {};

  private void hold(String kind) throws Exception {
    leases.set(kind, Scope.ofTable("t"), Setting.of(SettingName.HOLD), "test", 60, false);
  }

  @Test
  void ordersOfItsKindEndAndNoneIsTaken() throws Exception {
    guard.refuseIfTripped();
    hold("compaction");
    hold("flush");
    guard.trip("t is full");
    assertEquals(List.of("flush"), leases.all().stream().map(Lease::kind).toList());
    assertTrue(guard.isTripped());
    Refusal refusal = assertThrows(Refusal.class, guard::refuseIfTripped);
    assertTrue(refusal.getMessage().contains("t is full"), refusal.getMessage());
  }

  @Test
  void whatWasCheckedJustBeforeEndsTooAndCountsAsTheSameEnd() throws Exception {
    guard.trip("t is full");
    hold("compaction");
    guard.trip("t is full");
    assertEquals(List.of(), leases.all());
    assertEquals(1, guard.ends());
  }

  @Test
  void ordersAreTakenAgainAndMayEndAgain() throws Exception {
    guard.trip("t is full");
    guard.release();
    assertFalse(guard.isTripped());
    guard.refuseIfTripped();
    guard.trip("t is full");
    assertEquals(2, guard.ends());
  }
}
