package dev.sluice.local.requests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.lease.FakeClock;
import org.junit.jupiter.api.Test;

class RequestBudgetTest {
  private final FakeClock clock = new FakeClock();

  private RequestBudget budget(double perSecond) {
    return new RequestBudget(perSecond, clock.getAsLong());
  }

  private long take(RequestBudget budget, double perSecond, int rows) {
    budget.advance(perSecond, clock.getAsLong());
    return budget.take(rows);
  }

  /** How many of those who ask a thousand times a second are taken, with so many rows each. */
  private int taken(RequestBudget budget, double perSecond, double seconds, int rows) {
    int taken = 0;
    for (int i = 0; i < seconds * 1000; i++) {
      clock.advanceSeconds(0.001);
      taken += take(budget, perSecond, rows) == 0 ? rows : 0;
    }
    return taken;
  }

  @Test
  void asManyAreTakenAsTheRateSays() {
    RequestBudget budget = budget(100);
    int first = taken(budget, 100, 1, 1);
    assertTrue(first >= 100 && first <= 111, first + " in the first second, with what was saved");
    assertEquals(1000, taken(budget, 100, 10, 1), 1);
  }

  @Test
  void noMoreIsSavedThanATenthOfASecond() {
    RequestBudget budget = budget(100);
    clock.advanceSeconds(3600);
    int taken = 0;
    while (take(budget, 100, 1) == 0) {
      taken++;
    }
    assertEquals(10, taken);
  }

  @Test
  void oneWithMoreRowsThanAreSavedIsTakenAndPaidFor() {
    RequestBudget budget = budget(100);
    assertEquals(0, take(budget, 100, 50));
    assertTrue(take(budget, 100, 1) > 0);
    assertEquals(1000, taken(budget, 100, 10, 50), 60);
  }

  /** It asks a third as often as they do, and they never leave as much as it has rows. */
  @Test
  void smallOnesDoNotKeepALargeOneOut() {
    RequestBudget budget = budget(100);
    taken(budget, 100, 1, 1);
    int large = 0;
    int small = 0;
    for (int i = 0; i < 10_000; i++) {
      clock.advanceSeconds(0.001);
      large += i % 3 == 0 && take(budget, 100, 50) == 0 ? 50 : 0;
      small += take(budget, 100, 1) == 0 ? 1 : 0;
    }
    assertTrue(large >= 50 && small >= 1, large + " and " + small + " rows");
    assertEquals(1000, large + small, 60);
  }

  @Test
  void aRateBelowTenStillTakesOne() {
    RequestBudget budget = budget(1);
    assertEquals(0, take(budget, 1, 1));
    assertEquals(1_000_000_000, take(budget, 1, 1));
    clock.advanceSeconds(1);
    assertEquals(0, take(budget, 1, 1));
  }

  @Test
  void thoseWhoWaitComeBackOneAfterTheOther() {
    RequestBudget budget = budget(10);
    assertEquals(0, take(budget, 10, 1));
    assertEquals(100_000_000, take(budget, 10, 1));
    assertEquals(200_000_000, take(budget, 10, 1));
    for (int i = 0; i < 100; i++) {
      assertTrue(take(budget, 10, 1) <= 1_000_000_000, "nobody waits for longer than a second");
    }
    // When all have come or gone, nobody waits for them.
    clock.advanceSeconds(2);
    assertEquals(0, take(budget, 10, 1));
    assertEquals(100_000_000, take(budget, 10, 1));
  }

  @Test
  void anotherRateHoldsAtOnce() {
    RequestBudget budget = budget(1000);
    assertEquals(1000, taken(budget, 1000, 1, 1), 101);
    assertEquals(100, taken(budget, 10, 10, 1), 101);
    assertEquals(100, taken(budget, 10, 10, 1), 1);
    assertEquals(1000, taken(budget, 1000, 1, 1), 2);
  }

  @Test
  void whatIsGivenBackCanBeTaken() {
    RequestBudget budget = budget(10);
    assertEquals(0, take(budget, 10, 1));
    budget.giveBack(1);
    budget.giveBack(5);
    assertEquals(0, take(budget, 10, 1));
    assertTrue(take(budget, 10, 1) > 0);
  }
}
