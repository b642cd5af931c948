package dev.sluice.hbase.modules;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionContext;
import org.apache.hadoop.hbase.regionserver.throttle.NoLimitThroughputController;

/** Keeps every queued compaction while it is told to. */
public final class KeepingController extends NoLimitThroughputController {
  private static final long DEADLINE_SECONDS = 300;
  private static final BlockingQueue<Kept> KEPT = new LinkedBlockingQueue<>();
  private static volatile boolean keeping;
  private static volatile RuntimeException failure;

  /** A task as the hook got it. */
  record Kept(
      HStore store,
      CompactionContext selected,
      int priority,
      long queuedAtMilliseconds,
      Runnable resubmit) {}

  static void keep(boolean wanted) {
    keeping = wanted;
  }

  static void failWith(RuntimeException wanted) {
    failure = wanted;
  }

  static Kept take() throws InterruptedException {
    Kept kept = KEPT.poll(DEADLINE_SECONDS, TimeUnit.SECONDS);
    if (kept == null) {
      throw new AssertionError("nobody asked whether to defer a compaction");
    }
    return kept;
  }

  @Override
  public boolean defer(
      HStore store, CompactionContext selected, int priority, long queuedAt, Runnable resubmit) {
    if (failure != null) {
      throw failure;
    }
    return keeping && KEPT.add(new Kept(store, selected, priority, queuedAt, resubmit));
  }
}
