package dev.sluice.cassandra.compaction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.util.concurrent.RateLimiter;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Who asks a limiter is held, with the limiter of Guava that Cassandra has. */
class GateTest {
  private static final long PATIENCE_SECONDS = 60;

  private final RateLimiter limiter = RateLimiter.create(Double.MAX_VALUE);
  private final AtomicLong asked = new AtomicLong();
  private final CountDownLatch begun = new CountDownLatch(1);
  private volatile boolean ended;
  private Gate gate;
  private Thread asking;

  @BeforeEach
  void start() throws InterruptedException {
    gate = new Gate(LimiterMonitor.of(limiter).orElseThrow());
    asking = new Thread(this::ask);
    asking.start();
    assertTrue(begun.await(PATIENCE_SECONDS, TimeUnit.SECONDS));
  }

  private void ask() {
    while (!ended) {
      limiter.acquire();
      asked.incrementAndGet();
      begun.countDown();
    }
  }

  @AfterEach
  void stop() throws InterruptedException {
    ended = true;
    gate.close();
    asking.join(TimeUnit.SECONDS.toMillis(PATIENCE_SECONDS));
    assertEquals(Thread.State.TERMINATED, asking.getState());
  }

  private void awaitHeld() throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (asking.getState() != Thread.State.BLOCKED || !isHeldStill()) {
      assertTrue(System.nanoTime() - deadline < 0, "it is not held");
      Thread.onSpinWait();
    }
  }

  /** A thread is blocked for moments too, when two ask at once. */
  private boolean isHeldStill() throws InterruptedException {
    long before = asked.get();
    Thread.sleep(20);
    return asked.get() == before;
  }

  private void awaitMore(long than) {
    awaitMore(than, Thread::onSpinWait);
  }

  private void awaitMore(long than, Runnable meanwhile) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (asked.get() <= than) {
      assertTrue(System.nanoTime() - deadline < 0, "it does not go on");
      meanwhile.run();
    }
  }

  @Test
  void anOpenOneHoldsNobody() {
    awaitMore(asked.get());
  }

  @Test
  void aClosedOneHoldsUntilItOpens() throws InterruptedException {
    gate.setClosed(true);
    awaitHeld();
    long held = asked.get();
    gate.setClosed(false);
    awaitMore(held);
  }

  @Test
  void aPassageLetsThroughAndHoldsAgain() throws InterruptedException {
    gate.setClosed(true);
    awaitHeld();
    long held = asked.get();
    // Again and again, as the plug-in does: a passage is too short for a thread that gets no
    // processor in it.
    awaitMore(held, gate::letPass);
    awaitHeld();
  }

  @Test
  void theEndOpensItForGood() throws InterruptedException {
    gate.setClosed(true);
    awaitHeld();
    long held = asked.get();
    gate.close();
    awaitMore(held);
    gate.setClosed(true);
    gate.letPass();
    awaitMore(asked.get());
  }
}
