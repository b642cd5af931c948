package dev.sluice.hbase.pace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** With threads that wait in earnest; nothing here depends on how long that takes. */
@Timeout(60)
class ThrottleTest {
  private static final String KIND = "compaction";

  private final LeaseStore leases = new LeaseStore(System::nanoTime);
  private final AtomicBoolean letsGo = new AtomicBoolean();
  private final AtomicBoolean ends = new AtomicBoolean();
  private final Throttle throttle =
      new Throttle(
          KIND, leases, System::nanoTime, () -> StockPace.UNLIMITED, () -> 1, this::letsGo);
  private final Operation operation = new Operation("a", new Scope("t", "f"), System.nanoTime());

  private boolean letsGo(Operation asked) throws InterruptedException {
    if (ends.get()) {
      throw new InterruptedException("its region closes");
    }
    return letsGo.get();
  }

  private void hold() throws Exception {
    leases.set(KIND, Scope.SERVER, Setting.of(SettingName.HOLD), "test", 600, false);
  }

  @Test
  void abortEndsAWait() throws Exception {
    hold();
    CompletableFuture<Long> waiting = pauseInAThread();
    awaitHeld();
    operation.abort("by order");
    throttle.wake();
    ExecutionException failure = assertThrows(ExecutionException.class, waiting::get);
    assertEquals("by order", failure.getCause().getMessage());
    assertFalse(operation.isHeld());
  }

  @Test
  void abortEndsAnOperationThatNothingBounds() {
    operation.abort("by order");
    assertThrows(InterruptedException.class, () -> throttle.pause(operation));
  }

  private CompletableFuture<Long> pauseInAThread() {
    return pauseInAThread(Throttle.CHECK_BYTES);
  }

  private CompletableFuture<Long> pauseInAThread(long bytes) {
    operation.written(bytes);
    CompletableFuture<Long> result = new CompletableFuture<>();
    new Thread(
            () -> {
              try {
                result.complete(throttle.pause(operation));
              } catch (InterruptedException e) {
                result.completeExceptionally(e);
              }
            })
        .start();
    return result;
  }

  private void awaitHeld() {
    while (!operation.isHeld()) {
      assertFalse(Thread.currentThread().isInterrupted(), "it is not held, and time is over");
      Thread.onSpinWait();
    }
  }

  @Test
  void afterItsFirstStepItLooksOnlyAfterSoManyBytes() throws Exception {
    operation.written(1);
    throttle.pause(operation);
    hold();
    operation.written(Throttle.CHECK_BYTES - 1);
    assertEquals(0, throttle.pause(operation));
  }

  @Test
  void aHoldLetsNothingSmallThrough() throws Exception {
    hold();
    CompletableFuture<Long> waiting = pauseInAThread(1);
    awaitHeld();
    leases.clear("test");
    waiting.get(30, TimeUnit.SECONDS);
  }

  @Test
  void whatIsLeftAtTheEndIsChargedAndHoldsNothingUp() throws Exception {
    operation.written(1);
    throttle.pause(operation);
    hold();
    operation.written(Throttle.CHECK_BYTES - 1);
    throttle.finish(operation);
    assertEquals(0, operation.unchargedBytes());
  }

  @Test
  void aHoldThatIsClearedLetsItGo() throws Exception {
    hold();
    CompletableFuture<Long> waiting = pauseInAThread();
    awaitHeld();
    assertFalse(waiting.isDone());
    leases.clear("test");
    assertTrue(waiting.get(30, TimeUnit.SECONDS) > 0);
    assertFalse(operation.isHeld());
    assertTrue(operation.orderedWaitSeconds() > 0);
  }

  @Test
  void aHoldThatExpiresLetsItGoThoughNobodySweeps() throws Exception {
    leases.set(KIND, Scope.SERVER, Setting.of(SettingName.HOLD), "test", 0.2, false);
    CompletableFuture<Long> waiting = pauseInAThread();
    waiting.get(30, TimeUnit.SECONDS);
  }

  @Test
  void safetyLetsItGoDuringAHold() throws Exception {
    hold();
    CompletableFuture<Long> waiting = pauseInAThread();
    awaitHeld();
    letsGo.set(true);
    waiting.get(30, TimeUnit.SECONDS);
  }

  private void rate(double bytesPerSecond) throws Exception {
    Setting setting = Setting.of(SettingName.RATE_BYTES_PER_SECOND, bytesPerSecond);
    leases.set(KIND, Scope.SERVER, setting, "test", 600, false);
  }

  /** Its time passes by being looked at. */
  private Throttle throttleWithOwnTime(Throttle.Safety safety) {
    AtomicLong nanos = new AtomicLong();
    return new Throttle(
        KIND,
        leases,
        () -> nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(10)),
        () -> StockPace.UNLIMITED,
        () -> 1,
        safety);
  }

  private void checkThatAStepTakesNoSecond(Throttle of) throws InterruptedException {
    Operation other = new Operation("b", new Scope("t", "g"), 0);
    other.written(Throttle.CHECK_BYTES);
    assertTrue(of.pause(other) < TimeUnit.SECONDS.toNanos(1));
  }

  @Test
  void whatSafetyLetsGoIsChargedToNoRate() throws Exception {
    rate(1e6);
    Throttle own = throttleWithOwnTime(asked -> asked == operation);
    operation.written(100_000_000);
    own.pause(operation);
    assertEquals(0, operation.unchargedBytes());
    checkThatAStepTakesNoSecond(own);
  }

  @Test
  void norIsWhatItHasLeftAtItsEnd() throws Exception {
    rate(1000);
    Throttle own = throttleWithOwnTime(asked -> asked == operation);
    operation.written(1);
    own.pause(operation);
    operation.written(Throttle.CHECK_BYTES - 1);
    own.finish(operation);
    assertEquals(0, operation.unchargedBytes());
    Operation other = new Operation("b", new Scope("t", "g"), 0);
    other.written(1);
    assertTrue(own.pause(other) < TimeUnit.SECONDS.toNanos(1));
  }

  @Test
  void whatARateStillHasToMakeUpForEndsWithItsLease() throws Exception {
    rate(1e6);
    Throttle own = throttleWithOwnTime(asked -> false);
    operation.written(100_000_000);
    own.finish(operation);
    leases.clear("test");
    rate(1e6);
    checkThatAStepTakesNoSecond(own);
  }

  @Test
  void safetyEndsItDuringAHold() throws Exception {
    hold();
    CompletableFuture<Long> waiting = pauseInAThread();
    awaitHeld();
    ends.set(true);
    ExecutionException failure =
        assertThrows(ExecutionException.class, () -> waiting.get(30, TimeUnit.SECONDS));
    assertEquals(InterruptedException.class, failure.getCause().getClass());
    assertFalse(operation.isHeld());
  }
}
