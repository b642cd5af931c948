package dev.sluice.hbase.flush;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.sluice.local.lease.FakeClock;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import dev.sluice.local.protocol.Refusal;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class MemoryGuardTest {
  private final LeaseStore leases = new LeaseStore(new FakeClock());
  private long bytes;
  private double pressure;
  private final MemoryGuard guard =
      new MemoryGuard(
          leases, () -> Map.of("region", new MemoryLimits(bytes, 100, 400)), () -> pressure);

  @BeforeEach
  void hold() throws Exception {
    leases.set("flush", Scope.SERVER, Setting.of(SettingName.HOLD), "test", 60, false);
  }

  @Test
  void aRegionNearItsBlockingSizeEndsOrders() throws Exception {
    bytes = 299;
    guard.look();
    assertEquals(1, leases.all().size());
    bytes = 300;
    guard.look();
    assertEquals(List.of(), leases.all());
    assertThrows(Refusal.class, guard::refuseIfTripped);
    bytes = 199;
    guard.look();
    guard.refuseIfTripped();
    assertEquals(1, guard.ends());
  }

  @Test
  void aServerNearItsLimitEndsOrders() throws Exception {
    pressure = 0.9;
    guard.look();
    assertEquals(List.of(), leases.all());
    pressure = 0.8;
    guard.look();
    assertThrows(Refusal.class, guard::refuseIfTripped);
    pressure = 0.6;
    guard.look();
    guard.refuseIfTripped();
  }
}
