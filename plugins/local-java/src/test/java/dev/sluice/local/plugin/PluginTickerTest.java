package dev.sluice.local.plugin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.lease.FakeClock;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PluginTickerTest {
  private static final int DEADLINE_SECONDS = 30;

  private final FakeClock clock = new FakeClock();
  private final LeaseStore leases = new LeaseStore(clock);
  private final CountDownLatch closed = new CountDownLatch(1);
  private final AtomicInteger ticks = new AtomicInteger();

  @Test
  void itTicksUntilTheServerStops() throws Exception {
    PluginTicker.start(leases, ticks::incrementAndGet, () -> ticks.get() == 3, closed::countDown);
    assertTrue(closed.await(DEADLINE_SECONDS, TimeUnit.SECONDS));
    assertEquals(3, ticks.get());
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aFaultOfAPartEndsNothing(boolean isAnotherVersion) throws Exception {
    PluginTicker.start(
        leases,
        () -> {
          ticks.incrementAndGet();
          if (isAnotherVersion) {
            throw new NoSuchMethodError("not in this version");
          }
          throw new IllegalStateException("a fault");
        },
        () -> ticks.get() == 2,
        closed::countDown);
    assertTrue(closed.await(DEADLINE_SECONDS, TimeUnit.SECONDS));
    assertEquals(2, ticks.get());
  }

  @Test
  void aListenerThatFailsKeepsNoTickOut() throws Exception {
    leases.set("balancing", Scope.SERVER, Setting.of(SettingName.HOLD), "test", 1, false);
    clock.advanceSeconds(1);
    leases.addListener(
        () -> {
          throw new IllegalStateException("a fault");
        });
    PluginTicker.start(leases, ticks::incrementAndGet, () -> ticks.get() == 1, closed::countDown);
    assertTrue(closed.await(DEADLINE_SECONDS, TimeUnit.SECONDS));
  }

  @Test
  void listenersLearnOfLeasesWhoseTimeIsOver() throws Exception {
    Setting hold = Setting.of(SettingName.HOLD);
    leases.set("balancing", Scope.SERVER, hold, "test", 1, false);
    clock.advanceSeconds(1);
    AtomicInteger changes = new AtomicInteger();
    leases.addListener(changes::incrementAndGet);
    PluginTicker.start(leases, () -> {}, () -> changes.get() > 0, closed::countDown);
    assertTrue(closed.await(DEADLINE_SECONDS, TimeUnit.SECONDS));
  }
}
