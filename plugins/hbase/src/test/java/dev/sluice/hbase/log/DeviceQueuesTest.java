package dev.sluice.hbase.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.redirect.RedirectLimits;
import dev.sluice.local.redirect.Tier;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class DeviceQueuesTest {
  private static final RedirectLimits LIMITS = new RedirectLimits(4, 1000, 0.5);

  private OptionalLong fast = OptionalLong.of(0);
  private OptionalLong slow = OptionalLong.of(0);
  private long nanos;
  private final DeviceQueues queues =
      new DeviceQueues(Map.of(Tier.FAST, () -> fast, Tier.SLOW, () -> slow), () -> nanos);

  /** Looks so many times at a fast device with so many requests. */
  private void look(int times, long fastRequests) {
    fast = OptionalLong.of(fastRequests);
    for (int i = 0; i < times; ++i) {
      queues.look(Optional.of(LIMITS));
    }
  }

  private boolean redirects(double sizeBytes) {
    return queues.redirects(sizeBytes, LIMITS);
  }

  @Test
  void beforeTheFirstLookNothingIsRedirected() {
    assertFalse(redirects(5000));
  }

  @Test
  void aLongQueueTakesTheThresholdAwayAndAnEmptyOneBringsItBackInSteps() {
    look(1, 0);
    assertFalse(redirects(600));
    assertTrue(redirects(1001));
    look(2, 5);
    assertTrue(redirects(1));
    look(1, 0);
    assertTrue(redirects(600));
    assertFalse(redirects(400));
    look(1, 0);
    assertFalse(redirects(600));
  }

  /** As handlers do that wait for a log which has nothing else to do. */
  @Test
  void handlersThatWaitDoNotCount() {
    look(1, 1);
    for (int handler = 0; handler < 30; ++handler) {
      queues.begun(Tier.FAST);
    }
    assertFalse(redirects(1000));
  }

  @Test
  void theSlowDeviceMayHaveTheSyncsOfEditsBeforeToDoAndNoLongerQueue() {
    slow = OptionalLong.of(4);
    look(2, 5);
    assertTrue(redirects(1));
    slow = OptionalLong.of(6);
    look(1, 5);
    assertFalse(redirects(1));
    look(1, 6);
    assertTrue(redirects(1));
  }

  @Test
  void nothingIsRedirectedWhereADeviceIsUnknown() {
    slow = OptionalLong.empty();
    look(2, 5);
    assertFalse(redirects(1));
    slow = OptionalLong.of(0);
    fast = OptionalLong.empty();
    queues.look(Optional.of(LIMITS));
    assertFalse(redirects(1));
  }

  @Test
  void nothingIsRedirectedByWhatWasSeenLongAgo() {
    look(2, 5);
    nanos += Duration.ofMillis(199).toNanos();
    assertTrue(redirects(1));
    nanos += Duration.ofMillis(1).toNanos();
    assertFalse(redirects(1));
  }

  @Test
  void withoutLimitsWhatWasSeenIsForgotten() {
    look(2, 5);
    queues.look(Optional.empty());
    assertFalse(redirects(1));
    assertEquals(1000, queues.thresholdBytes(LIMITS));
  }

  @Test
  void aConfigurationNamesBothFoldersOrNone() {
    assertTrue(DeviceQueues.configured(key -> null).isEmpty());
    assertTrue(DeviceQueues.configured(key -> "/").isPresent());
    String slowKey = DeviceQueues.FOLDER_KEYS.get(Tier.SLOW);
    IllegalArgumentException refused =
        assertThrows(
            IllegalArgumentException.class,
            () -> DeviceQueues.configured(key -> key.equals(slowKey) ? "/" : null));
    assertTrue(refused.getMessage().contains(slowKey), refused.getMessage());
  }
}
