package dev.sluice.hbase.master;

import static org.junit.jupiter.api.Assertions.assertEquals;
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

class NormalizationTest {
  private static final Setting HOLD = Setting.of(SettingName.HOLD);

  private final FakeClock clock = new FakeClock();
  private final LeaseStore leases = new LeaseStore(clock);
  private final Normalization normalization = new Normalization(leases, clock);

  private void hold(Scope scope) throws Exception {
    leases.set(Normalization.KIND, scope, HOLD, "policy/night", 60, false);
  }

  private SnapshotMembers snapshot() {
    return SnapshotMembers.of(normalization);
  }

  @Test
  void aTableIsHeldAlone() throws Exception {
    hold(Scope.ofTable("orders"));
    assertThrows(PutOffException.class, () -> normalization.split("orders"));
    assertThrows(PutOffException.class, () -> normalization.merge("orders"));
    normalization.split("shop:orders");
    normalization.merge("items");
    assertEquals(1, snapshot().figure("normalization_splits_total"));
    assertEquals(1, snapshot().figure("normalization_merges_total"));
    assertEquals(2, snapshot().figure("normalization_steps_put_off_total"));
  }

  @Test
  void allTablesAreHeldTogether() throws Exception {
    hold(Scope.SERVER);
    PutOffException putOff =
        assertThrows(PutOffException.class, () -> normalization.merge("items"));
    assertTrue(putOff.getMessage().contains("a merge of regions of items"), putOff.getMessage());
  }

  @Test
  void stepsGoOnWhenTheLeaseHasEnded() throws Exception {
    hold(Scope.ofTable("orders"));
    assertThrows(PutOffException.class, () -> normalization.split("orders"));
    clock.advanceSeconds(60);
    normalization.split("orders");
    assertEquals(1, snapshot().figure("normalization_splits_total"));
  }

  @Test
  void aTableWhoseStepsWerePutOffIsShownWhileItIsHeld() throws Exception {
    hold(Scope.SERVER);
    assertTrue(snapshot().tasks().isEmpty());
    assertThrows(PutOffException.class, () -> normalization.split("orders"));
    clock.advanceSeconds(20);
    assertThrows(PutOffException.class, () -> normalization.split("orders"));
    Map<?, ?> task = (Map<?, ?>) snapshot().tasks().get(0);
    assertEquals("deferred", task.get("state"));
    assertEquals("orders", task.get("scope"));
    assertEquals(20.0, task.get("age_seconds"));
    clock.advanceSeconds(40);
    assertTrue(snapshot().tasks().isEmpty());
  }

  @Test
  void aFamilyAloneCannotBeHeld() throws Exception {
    normalization.checkOrder(Scope.SERVER, HOLD);
    normalization.checkOrder(Scope.ofTable("t"), HOLD);
    Refusal refusal =
        assertThrows(Refusal.class, () -> normalization.checkOrder(new Scope("t", "f"), HOLD));
    assertEquals(-32003, refusal.number());
  }
}
