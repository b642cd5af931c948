package dev.sluice.hbase.compaction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.lease.FakeClock;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import dev.sluice.local.protocol.Refusal;
import java.util.List;
import org.junit.jupiter.api.Test;

class BlockingGuardTest {
  private final LeaseStore leases = new LeaseStore(new FakeClock());
  private long files = 1;
  private final BlockingGuard guard =
      new BlockingGuard(
          leases,
          () ->
              List.of(
                  new BlockingGuard.Filling("small", new FileLimits(1, 3, 16)),
                  new BlockingGuard.Filling("large", new FileLimits(files, 3, 16))));

  private void hold(String kind) throws Exception {
    leases.set(kind, Scope.ofTable("t"), Setting.of(SettingName.HOLD), "test", 60, false);
  }

  @Test
  void ordersEndWhereOneStoreIsNearItsBound() throws Exception {
    hold("compaction");
    hold("flush");
    files = 12;
    guard.look();
    guard.refuseIfTripped();
    assertEquals(2, leases.all().size());
    files = 13;
    guard.look();
    assertEquals(List.of("flush"), leases.all().stream().map(lease -> lease.kind()).toList());
    Refusal refusal = assertThrows(Refusal.class, guard::refuseIfTripped);
    assertTrue(refusal.getMessage().contains("large has 13 files"), refusal.getMessage());
  }

  @Test
  void ordersAreTakenAgainWhenThereIsRoom() throws Exception {
    files = 13;
    guard.look();
    files = 12;
    guard.look();
    assertTrue(guard.isTripped());
    files = 9;
    guard.look();
    assertFalse(guard.isTripped());
    guard.refuseIfTripped();
    assertEquals(1, guard.ends());
  }

  @Test
  void whatComesMeanwhileEndsToo() throws Exception {
    files = 13;
    guard.look();
    hold("compaction");
    guard.look();
    assertEquals(List.of(), leases.all());
    assertEquals(1, guard.ends());
  }
}
