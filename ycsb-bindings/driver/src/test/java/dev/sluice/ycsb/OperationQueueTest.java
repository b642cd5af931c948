package dev.sluice.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class OperationQueueTest {
  @Test
  void endsAfterItsLimit() {
    OperationQueue queue = new OperationQueue(2, null, System.nanoTime(), 0);
    assertTrue(queue.take(() -> false).isPresent());
    assertTrue(queue.take(() -> false).isPresent());
    assertTrue(queue.take(() -> false).isEmpty());
  }

  @Test
  void stopEndsAQueueWithoutLimit() {
    OperationQueue queue = new OperationQueue(0, null, System.nanoTime(), 0);
    assertTrue(queue.take(() -> false).isPresent());
    assertTrue(queue.take(() -> true).isEmpty());
  }

  @Test
  void lateOperationKeepsItsDueTime() {
    long start = System.nanoTime() - TimeUnit.SECONDS.toNanos(10);
    OperationQueue queue = new OperationQueue(0, TargetSchedule.constant(2), start, 0);
    assertEquals(OptionalLong.of(start), queue.take(() -> false));
    assertEquals(
        OptionalLong.of(start + TimeUnit.MILLISECONDS.toNanos(500)), queue.take(() -> false));
    assertEquals(21, queue.due(TimeUnit.SECONDS.toNanos(10)));
  }

  @Test
  void operationIsNotHandedOutBeforeItsTime() {
    long start = System.nanoTime();
    OperationQueue queue = new OperationQueue(0, TargetSchedule.constant(50), start, 0);
    for (int i = 0; i < 10; i++) {
      long due = queue.take(() -> false).orElseThrow();
      assertTrue(System.nanoTime() >= due);
    }
  }

  @Test
  void stopReachesAThreadThatWaits() throws Exception {
    long start = System.nanoTime();
    OperationQueue queue = new OperationQueue(0, TargetSchedule.parse("1s:1,3600s:0"), start, 0);
    queue.take(() -> false);
    AtomicBoolean stop = new AtomicBoolean();
    CountDownLatch ended = new CountDownLatch(1);
    Thread waiting =
        new Thread(
            () -> {
              if (queue.take(stop::get).isEmpty()) {
                ended.countDown();
              }
            });
    waiting.start();
    stop.set(true);
    assertTrue(ended.await(60, TimeUnit.SECONDS));
  }

  @Test
  void whatIsDueAfterTheEndIsNotIssuedHoweverLateTheStop() {
    long start = System.nanoTime() - TimeUnit.SECONDS.toNanos(10);
    long length = TimeUnit.SECONDS.toNanos(1);
    OperationQueue queue = new OperationQueue(0, TargetSchedule.constant(2), start, length);
    for (int i = 0; i < 3; i++) {
      assertTrue(queue.take(() -> false).isPresent());
    }
    AtomicInteger looks = new AtomicInteger();
    assertTrue(queue.take(() -> looks.incrementAndGet() > 2).isEmpty());
    assertEquals(3, queue.due(TimeUnit.SECONDS.toNanos(10)));
  }

  @Test
  void dueCountEndsAtTheLimit() {
    OperationQueue queue = new OperationQueue(5, TargetSchedule.constant(10), 0, 0);
    assertEquals(5, queue.due(TimeUnit.SECONDS.toNanos(60)));
  }
}
