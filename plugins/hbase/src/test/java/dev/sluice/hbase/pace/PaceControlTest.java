package dev.sluice.hbase.pace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.lease.FakeClock;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class PaceControlTest {
  private static final String KIND = "compaction";
  private static final Scope FAMILY = new Scope("t", "f");
  private static final Scope TABLE = Scope.ofTable("t");
  private static final int CHUNK = 64 << 10;

  private final FakeClock clock = new FakeClock();
  private final LeaseStore leases = new LeaseStore(clock);
  private StockPace stock = StockPace.UNLIMITED;
  private int operationCount = 1;
  private final PaceControl pace = new PaceControl(KIND, leases, () -> stock, () -> operationCount);
  private final Operation operation = operation("a", FAMILY);

  private Operation operation(String name, Scope scope) {
    return new Operation(name, scope, clock.getAsLong());
  }

  private void set(Scope scope, Setting setting, double seconds) {
    try {
      leases.set(KIND, scope, setting, "test", seconds, true);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private static Setting rate(double bytesPerSecond) {
    return Setting.of(SettingName.RATE_BYTES_PER_SECOND, bytesPerSecond);
  }

  private Wait write(Operation working, long bytes) {
    working.written(bytes);
    pace.charge(working, clock.getAsLong());
    return pace.waitFor(working, clock.getAsLong());
  }

  /** Has operations work side by side for a time, and says how many bytes each of them has done. */
  private double[] work(double seconds, Operation... operations) {
    long end = clock.getAsLong() + Math.round(seconds * 1e9);
    long[] before = new long[operations.length];
    for (int i = 0; i < operations.length; i++) {
      before[i] = operations[i].doneBytes();
    }
    while (end - clock.getAsLong() > 0) {
      for (Operation each : operations) {
        if (pace.waitFor(each, clock.getAsLong()).isOver()) {
          write(each, CHUNK);
        }
      }
      // A millisecond of work between two looks.
      clock.advanceNanos(1_000_000);
    }
    double[] rates = new double[operations.length];
    for (int i = 0; i < operations.length; i++) {
      rates[i] = (operations[i].doneBytes() - before[i]) / seconds;
    }
    return rates;
  }

  @Test
  void withoutOrdersAndLimitsNobodyWaits() {
    assertTrue(write(operation, 1L << 40).isOver());
  }

  @Test
  void aRateHolds() {
    set(FAMILY, rate(2e6), 100);
    assertEquals(2e6, work(5, operation)[0], 0.03 * 2e6);
  }

  @Test
  void operationsShareTheRateOfTheirLease() {
    Operation other = operation("b", new Scope("t", "g"));
    Operation elsewhere = operation("c", new Scope("u", "f"));
    set(TABLE, rate(2e6), 100);
    double[] rates = work(5, operation, other, elsewhere);
    assertEquals(2e6, rates[0] + rates[1], 0.03 * 2e6);
    assertTrue(rates[2] > 10e6);
  }

  @Test
  void theNarrowestRateHoldsWithinTheWiderOnes() {
    Operation other = operation("b", new Scope("u", "f"));
    set(FAMILY, rate(1e6), 100);
    set(Scope.SERVER, rate(3e6), 100);
    double[] rates = work(10, operation, other);
    assertEquals(1e6, rates[0], 0.03 * 1e6);
    assertEquals(2e6, rates[1], 0.1 * 2e6);
  }

  @Test
  void aWiderRateBoundsANarrowerOne() {
    set(FAMILY, rate(9e6), 100);
    set(Scope.SERVER, rate(1e6), 100);
    assertEquals(1e6, work(5, operation)[0], 0.03 * 1e6);
  }

  @Test
  void aHoldHoldsWhateverTheRate() {
    set(FAMILY, rate(9e6), 100);
    set(Scope.SERVER, Setting.of(SettingName.HOLD), 2);
    Wait wait = write(operation, 1);
    assertTrue(wait.held() && wait.ordered() && !wait.isOver());
    clock.advanceSeconds(2);
    assertFalse(pace.waitFor(operation, clock.getAsLong()).held());
  }

  @Test
  void aRateThatEndsWhileOneWaitsLetsItGo() {
    set(FAMILY, rate(1), 2);
    assertFalse(write(operation, CHUNK).isOver());
    clock.advanceSeconds(2);
    assertTrue(pace.waitFor(operation, clock.getAsLong()).isOver());
  }

  @Test
  void aRateThatChangesWhileOneWaitsHoldsAtOnce() {
    set(FAMILY, rate(1), 100);
    assertFalse(write(operation, CHUNK).isOver());
    set(FAMILY, rate(CHUNK), 100);
    Wait wait = pace.waitFor(operation, clock.getAsLong());
    assertTrue(wait.nanos() <= 1_000_000_000L, wait::toString);
  }

  @Test
  void whatIsReadAndDroppedIsCharged() {
    set(FAMILY, rate(1e6), 100);
    operation.read(1_000_000);
    pace.charge(operation, clock.getAsLong());
    assertEquals(1.0, pace.waitFor(operation, clock.getAsLong()).nanos() / 1e9, 1e-6);
  }

  @Test
  void whoHasDoneNothingHereDoesNotWaitForTheOthersOfItsRate() {
    Operation elsewhere = operation("b", FAMILY);
    set(TABLE, rate(1), 100);
    assertFalse(write(operation, CHUNK).isOver());
    assertTrue(write(elsewhere, 0).isOver());
    set(TABLE, Setting.of(SettingName.HOLD), 100);
    assertTrue(pace.waitFor(elsewhere, clock.getAsLong()).held());
  }

  @Test
  void whatIsReadAndThenWrittenIsChargedOnce() {
    set(FAMILY, rate(1e6), 100);
    operation.read(1_000_000);
    pace.charge(operation, clock.getAsLong());
    clock.advanceSeconds(1);
    assertTrue(write(operation, 1_000_000).isOver());
    assertEquals(1_000_000, operation.doneBytes());
  }

  @Test
  void fullLiftsTheStoresOwnPaceAndStockKeepsIt() {
    stock = new StockPace(1e6, CHUNK);
    assertEquals(1e6, work(5, operation)[0], 0.05 * 1e6);
    set(FAMILY, Setting.of(SettingName.FULL), 100);
    clock.advanceSeconds(1);
    assertTrue(work(5, operation)[0] > 10e6);
    set(FAMILY, Setting.of(SettingName.STOCK), 100);
    assertEquals(1e6, work(5, operation)[0], 0.05 * 1e6);
  }

  @Test
  void theStoresOwnPaceIsSharedByTheOperations() {
    stock = new StockPace(2e6, CHUNK);
    operationCount = 2;
    double[] rates = work(5, operation, operation("b", FAMILY));
    assertEquals(1e6, rates[0], 0.05 * 1e6);
    assertEquals(1e6, rates[1], 0.05 * 1e6);
  }

  @Test
  void theStoresOwnPaceIsLookedAtAsRarelyAsItsConfigurationSays() {
    stock = new StockPace(1e6, 10_000_000);
    assertTrue(write(operation, 9_999_999).isOver());
    assertEquals(10.0, write(operation, 1).nanos() / 1e9, 1e-6);
  }

  @Test
  void anOrderEndsAWaitOfTheStoresOwnPace() {
    stock = new StockPace(1, 1);
    assertFalse(write(operation, CHUNK).isOver());
    set(FAMILY, rate(1e9), 100);
    assertTrue(pace.waitFor(operation, clock.getAsLong()).isOver());
  }

  @Test
  void whatWasDoneUnderAnOrderIsNotHeldAgainstItLater() {
    stock = new StockPace(1e6, CHUNK);
    set(FAMILY, Setting.of(SettingName.FULL), 1);
    write(operation, 1L << 30);
    clock.advanceSeconds(1);
    assertTrue(write(operation, 1).isOver());
  }

  @Property(tries = 50)
  void anySettingsOfRatesAreObeyedTogether(
      @ForAll @IntRange(min = 1, max = 8) int family,
      @ForAll @IntRange(min = 1, max = 8) int table,
      @ForAll @IntRange(min = 1, max = 8) int server) {
    set(FAMILY, rate(family * 1e6), 1000);
    set(TABLE, rate(table * 1e6), 1000);
    set(Scope.SERVER, rate(server * 1e6), 1000);
    double least = Math.min(family, Math.min(table, server)) * 1e6;
    // What the try before left over may be made up for; the last chunk may reach past the end.
    double lastChunk = CHUNK / 5.0;
    assertEquals(least, work(5, operation("x", FAMILY))[0], 0.03 * least + lastChunk);
  }

  @Test
  void theRateThatIsShownIsThatOfTheLastSecond() {
    set(FAMILY, rate(2e6), 5);
    work(4, operation);
    assertEquals(2e6, operation.bytesPerSecondAt(clock.getAsLong()), 0.1 * 2e6);
    operation.held(true);
    assertEquals(0, operation.bytesPerSecondAt(clock.getAsLong()));
  }
}
