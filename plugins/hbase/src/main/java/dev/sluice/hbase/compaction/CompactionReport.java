package dev.sluice.hbase.compaction;

import dev.sluice.hbase.pace.Operation;
import dev.sluice.local.protocol.Snapshot;
import dev.sluice.local.protocol.TaskState;
import java.util.Collection;
import org.apache.hadoop.hbase.regionserver.CompactSplit;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;

/** Shows compactions in snapshots. */
final class CompactionReport {
  private static final double NANOS_PER_SECOND = 1e9;
  private static final double MILLIS_PER_SECOND = 1e3;

  private CompactionReport() {}

  static void running(Collection<RunningCompaction> running, Snapshot.Builder snapshot) {
    long now = System.nanoTime();
    running.forEach(compaction -> snapshot.task(runningTask(compaction, now)));
  }

  private static Snapshot.Task runningTask(RunningCompaction compaction, long now) {
    Operation operation = compaction.operation();
    return new Snapshot.Task(
        compaction.id(),
        CompactionPart.KIND,
        operation.scope().text(),
        operation.isHeld() ? TaskState.HELD : TaskState.RUNNING,
        compaction.phase(),
        operation.doneBytes(),
        compaction.totalBytes(),
        operation.bytesPerSecondAt(now),
        operation.orderedWaitSeconds(),
        operation.ageSecondsAt(now));
  }

  static void deferred(String id, Candidate candidate, Snapshot.Builder snapshot) {
    long waitNanos = System.nanoTime() - candidate.sinceNanos();
    double waitSeconds = Math.max(0, waitNanos) / NANOS_PER_SECOND;
    snapshot.task(
        new Snapshot.Task(
            id,
            CompactionPart.KIND,
            candidate.scope().text(),
            TaskState.DEFERRED,
            candidate.major() ? "major" : "",
            0,
            candidate.bytes(),
            0,
            waitSeconds,
            waitSeconds));
  }

  static void queued(
      String id, StoreView view, QueuedCompaction queued, Snapshot.Builder snapshot) {
    long ageMillis = EnvironmentEdgeManager.currentTime() - queued.sinceMillis();
    snapshot.task(
        new Snapshot.Task(
            id,
            CompactionPart.KIND,
            view.scope().text(),
            TaskState.QUEUED,
            "",
            0,
            0,
            0,
            0,
            Math.max(0, ageMillis) / MILLIS_PER_SECOND));
  }

  /** The store's own queues; what is put off is in none of them. */
  static void reportQueues(RegionServerServices services, Snapshot.Builder snapshot) {
    if (services.getCompactionRequestor() instanceof CompactSplit split) {
      snapshot.figure("compaction_queue_large_tasks", split.getLargeCompactionQueueSize());
      snapshot.figure("compaction_queue_small_tasks", split.getSmallCompactionQueueSize());
    }
  }
}
