package dev.sluice.hbase.modules;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.hbase.regionserver.throttle.NoLimitThroughputController;

/** Lets no compaction go on while its gate is closed. */
public final class GateController extends NoLimitThroughputController {
  private static final AtomicInteger WAITING = new AtomicInteger();
  private static volatile CountDownLatch gate = new CountDownLatch(0);

  static void close() {
    gate = new CountDownLatch(1);
  }

  static void open() {
    gate.countDown();
  }

  static int waiting() {
    return WAITING.get();
  }

  @Override
  public long control(String compactionName, long size) throws InterruptedException {
    WAITING.incrementAndGet();
    try {
      gate.await();
    } finally {
      WAITING.decrementAndGet();
    }
    return 0;
  }
}
