package dev.sluice.local.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class LeaseStoreTest {
  private static final String KIND = "compaction";
  private static final Scope FAMILY = new Scope("t", "f");
  private static final Setting HOLD = Setting.of(SettingName.HOLD);
  private static final Setting RATE = Setting.of(SettingName.RATE_BYTES_PER_SECOND, 5);
  private static final Setting CONCURRENCY = Setting.of(SettingName.CONCURRENCY, 2);

  private final FakeClock clock = new FakeClock();
  private final LeaseStore leases = new LeaseStore(clock);

  private Lease set(Scope scope, Setting setting, String owner, double seconds) throws Exception {
    return leases.set(KIND, scope, setting, owner, seconds, false);
  }

  @Test
  void aLeaseEndsWhenItsTimeIsOverAndNotBefore() throws Exception {
    set(FAMILY, HOLD, "a", 2);
    clock.advanceNanos(1_999_999_999L);
    assertTrue(leases.find(KIND, Aspect.PACE, FAMILY).isPresent());
    clock.advanceNanos(1);
    assertTrue(leases.find(KIND, Aspect.PACE, FAMILY).isEmpty());
    assertEquals(List.of(), leases.all());
  }

  @Test
  void renewingBeginsTheTimeAnew() throws Exception {
    set(FAMILY, HOLD, "a", 2);
    clock.advanceSeconds(1.5);
    Lease renewed = set(FAMILY, HOLD, "a", 1);
    assertEquals(1, leases.secondsLeft(renewed), 1e-9);
    assertEquals(1, leases.all().size());
  }

  @Test
  void anotherOwnerIsRefusedUnlessItTakesOver() throws Exception {
    set(FAMILY, HOLD, "a", 2);
    LeaseConflictException conflict =
        assertThrows(LeaseConflictException.class, () -> set(FAMILY, RATE, "b", 2));
    assertEquals("a", conflict.lease().owner());
    leases.set(KIND, FAMILY, RATE, "b", 2, true);
    assertEquals("b", leases.find(KIND, Aspect.PACE, FAMILY).orElseThrow().owner());
  }

  @Test
  void anEndedLeaseIsInNobodysWay() throws Exception {
    set(FAMILY, HOLD, "a", 2);
    clock.advanceSeconds(2);
    set(FAMILY, RATE, "b", 2);
  }

  @Test
  void aspectsScopesAndKindsHoldSideBySide() throws Exception {
    set(FAMILY, HOLD, "a", 2);
    set(FAMILY, CONCURRENCY, "b", 2);
    set(Scope.SERVER, RATE, "c", 2);
    leases.set("flush", FAMILY, RATE, "d", 2, false);
    assertEquals(4, leases.all().size());
    assertEquals(3, leases.all(KIND).size());
  }

  @Test
  void theNarrowestScopeComesFirst() throws Exception {
    set(Scope.SERVER, RATE, "a", 2);
    set(Scope.ofTable("t"), HOLD, "a", 2);
    set(new Scope("t", "g"), HOLD, "a", 2);
    List<Lease> found = leases.widening(KIND, Aspect.PACE, FAMILY);
    assertEquals(List.of(HOLD, RATE), found.stream().map(Lease::setting).toList());
    assertEquals(HOLD, leases.mostSpecific(KIND, Aspect.PACE, FAMILY).orElseThrow().setting());
  }

  @Test
  void clearEndsThoseOfItsOwner() throws Exception {
    set(FAMILY, HOLD, "a", 2);
    set(Scope.SERVER, RATE, "a", 2);
    assertEquals(0, leases.clear("b"));
    assertEquals(0, leases.clear("b", KIND, FAMILY));
    assertEquals(1, leases.clear("a", KIND, FAMILY));
    assertEquals(1, leases.clear("a"));
    assertEquals(0, leases.clear("a"));
  }

  @Test
  void whatHasEndedIsNotCountedAsCleared() throws Exception {
    set(FAMILY, HOLD, "a", 2);
    clock.advanceSeconds(3);
    assertEquals(0, leases.clear("a"));
  }

  @Test
  void revertGivesBackWhatWasThereUnlessItWasReplaced() throws Exception {
    Lease first = set(FAMILY, HOLD, "a", 2);
    Lease second = set(FAMILY, RATE, "a", 2);
    leases.revert(second, Optional.of(first));
    assertEquals(first, leases.find(KIND, Aspect.PACE, FAMILY).orElseThrow());
    Lease third = set(FAMILY, RATE, "a", 2);
    leases.revert(second, Optional.empty());
    assertEquals(third, leases.find(KIND, Aspect.PACE, FAMILY).orElseThrow());
  }

  @Test
  void listenersHearOfOrdersAndOfEnds() throws Exception {
    AtomicInteger changes = new AtomicInteger();
    leases.addListener(changes::incrementAndGet);
    set(FAMILY, HOLD, "a", 2);
    leases.sweep();
    assertEquals(1, changes.get());
    clock.advanceSeconds(2);
    leases.sweep();
    leases.sweep();
    assertEquals(2, changes.get());
    set(FAMILY, HOLD, "a", 2);
    assertEquals(1, leases.end(lease -> lease.kind().equals(KIND)));
    assertEquals(4, changes.get());
  }

  /** No sweep finds it any more. */
  @Test
  void listenersHearOfTheEndOfOneThatIsForgottenWhenOthersEnd() throws Exception {
    set(FAMILY, HOLD, "a", 2);
    AtomicInteger changes = new AtomicInteger();
    leases.addListener(changes::incrementAndGet);
    clock.advanceSeconds(2);
    assertEquals(0, leases.end(lease -> false));
    assertEquals(1, changes.get());
    leases.sweep();
    assertEquals(1, changes.get());
  }
}
