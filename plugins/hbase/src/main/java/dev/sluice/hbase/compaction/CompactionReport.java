package dev.sluice.hbase.compaction;

import dev.sluice.hbase.pace.Operation;
import dev.sluice.hbase.protocol.Snapshot;
import dev.sluice.hbase.protocol.TaskState;
import java.util.Collection;
import java.util.List;
import org.apache.hadoop.hbase.regionserver.CompactSplit;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;

/** Shows compactions in snapshots. */
final class CompactionReport {
  private static final double NANOS_PER_SECOND = 1e9;

  private CompactionReport() {}

  static void report(
      Collection<RunningCompaction> running,
      List<Candidate> deferred,
      Snapshot.Builder snapshot) {
    long now = System.nanoTime();
    running.forEach(compaction -> snapshot.task(runningTask(compaction, now)));
    for (int place = 0; place < deferred.size(); place++) {
      snapshot.task(deferredTask(deferred.get(place), place, now));
    }
  }

  private static Snapshot.Task runningTask(RunningCompaction compaction, long now) {
    Operation operation = compaction.operation();
    return new Snapshot.Task(
        operation.name(),
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

  private static Snapshot.Task deferredTask(Candidate candidate, int place, long now) {
    double waitSeconds = (now - candidate.sinceNanos()) / NANOS_PER_SECOND;
    return new Snapshot.Task(
        candidate.key() + "#deferred#" + place,
        CompactionPart.KIND,
        candidate.scope().text(),
        TaskState.DEFERRED,
        candidate.major() ? "major" : "",
        0,
        candidate.bytes(),
        0,
        Math.max(0, waitSeconds),
        Math.max(0, waitSeconds));
  }

  /** The store's own queues; what is put off is in none of them. */
  static void reportQueues(RegionServerServices services, Snapshot.Builder snapshot) {
    if (services.getCompactionRequestor() instanceof CompactSplit split) {
      snapshot.figure("compaction_queue_large_tasks", split.getLargeCompactionQueueSize());
      snapshot.figure("compaction_queue_small_tasks", split.getSmallCompactionQueueSize());
    }
  }
}
