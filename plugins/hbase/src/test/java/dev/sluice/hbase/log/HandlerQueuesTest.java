package dev.sluice.hbase.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.redirect.RedirectLimits;
import dev.sluice.local.redirect.Tier;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class HandlerQueuesTest {
  private static final RedirectLimits LIMITS = new RedirectLimits(1, 1000, 0.5);

  private final HandlerQueues queues = new HandlerQueues();

  private boolean redirects(double sizeBytes) {
    return queues.redirects(sizeBytes, LIMITS);
  }

  @Test
  void anEditThatIsLargerThanTheThresholdIsRedirected() {
    assertFalse(redirects(1000));
    assertTrue(redirects(1001));
  }

  @Test
  void handlersThatWaitForTheFastLogShrinkTheThreshold() {
    queues.begun(Tier.FAST);
    assertFalse(redirects(600));
    queues.begun(Tier.FAST);
    assertTrue(redirects(600));
    assertEquals(500, queues.thresholdBytes(LIMITS));
    assertEquals(OptionalLong.of(2), queues.requests(Tier.FAST));
    queues.ended(Tier.FAST);
    queues.ended(Tier.FAST);
    assertFalse(redirects(600));
  }

  @Test
  void nothingIsRedirectedToALogThatMoreHandlersWaitFor() {
    queues.begun(Tier.SLOW);
    assertFalse(redirects(5000));
    queues.ended(Tier.SLOW);
    assertTrue(redirects(5000));
  }

  @Test
  void editsJoinThoseThatWaitForTheSlowLogWhileAsManyWaitForTheFastOne() {
    queues.begun(Tier.FAST);
    queues.begun(Tier.FAST);
    for (int edit = 0; edit < 3; ++edit) {
      assertTrue(redirects(5000));
      queues.begun(Tier.SLOW);
    }
    assertFalse(redirects(5000));
  }

  @Test
  void whatIsForgottenIsNotLost() {
    queues.begun(Tier.FAST);
    queues.begun(Tier.FAST);
    redirects(600);
    queues.ended(Tier.FAST);
    queues.forget();
    assertFalse(redirects(600));
  }
}
