package dev.sluice.hbase.modules;

import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.hbase.regionserver.Store;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionLifeCycleTracker;

/** Counts what a request's tracker is told. */
final class RecordingTracker implements CompactionLifeCycleTracker {
  final AtomicInteger notExecuted = new AtomicInteger();
  final AtomicInteger executions = new AtomicInteger();
  final AtomicInteger completed = new AtomicInteger();

  @Override
  public void notExecuted(Store store, String reason) {
    notExecuted.incrementAndGet();
  }

  @Override
  public void afterExecution(Store store) {
    executions.incrementAndGet();
  }

  @Override
  public void completed() {
    completed.incrementAndGet();
  }
}
