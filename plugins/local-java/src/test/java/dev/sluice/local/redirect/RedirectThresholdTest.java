package dev.sluice.local.redirect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;

class RedirectThresholdTest {
  private static final RedirectLimits LIMITS = new RedirectLimits(4, 1000, 0.25);

  private final RedirectThreshold threshold = RedirectThreshold.returningAtOnce();

  private void observe(double... queues) {
    for (double queue : queues) {
      threshold.observe(queue, LIMITS);
    }
  }

  @Example
  void withoutAQueueOnlyWhatIsLargerThanTheLimitIsRedirected() {
    assertTrue(threshold.redirects(1001, LIMITS));
    assertFalse(threshold.redirects(1000, LIMITS));
  }

  @Example
  void aQueueShrinksItStepByStep() {
    observe(5);
    assertEquals(750, threshold.sizeBytes(LIMITS));
    observe(5, 5);
    assertEquals(250, threshold.sizeBytes(LIMITS));
    observe(5, 5);
    assertEquals(0, threshold.sizeBytes(LIMITS));
  }

  @Example
  void aShortQueueLeavesIt() {
    observe(5, 4, 1);
    assertEquals(750, threshold.sizeBytes(LIMITS));
  }

  @Example
  void anEmptyQueueBringsItBack() {
    observe(5, 5, 0);
    assertEquals(1000, threshold.sizeBytes(LIMITS));
  }

  @Example
  void orStepByStep() {
    RedirectThreshold slower = RedirectThreshold.returningInSteps();
    for (double queue : new double[] {5, 5, 0}) {
      slower.observe(queue, LIMITS);
    }
    assertEquals(750, slower.sizeBytes(LIMITS));
    slower.observe(0, LIMITS);
    slower.observe(0, LIMITS);
    assertEquals(1000, slower.sizeBytes(LIMITS));
  }

  @Example
  void aResetBringsItBackToo() {
    observe(5, 5);
    threshold.reset();
    assertEquals(1000, threshold.sizeBytes(LIMITS));
  }

  @Example
  void otherLimitsHoldAtOnce() {
    observe(5);
    assertEquals(75, threshold.sizeBytes(new RedirectLimits(4, 100, 0.5)));
  }

  @Property
  void itStaysBetweenNothingAndItsLimit(
      @ForAll List<@IntRange(min = 0, max = 20) Integer> queues,
      @ForAll @DoubleRange(min = 0, max = 1) double stepRatio) {
    RedirectLimits limits = new RedirectLimits(4, 1000, stepRatio);
    for (int queue : queues) {
      double before = threshold.sizeBytes(limits);
      threshold.observe(queue, limits);
      double after = threshold.sizeBytes(limits);
      assertTrue(after >= 0 && after <= 1000, () -> "it is " + after);
      assertTrue(queue == 0 || after <= before, "it grows only when the queue is empty");
    }
  }
}
