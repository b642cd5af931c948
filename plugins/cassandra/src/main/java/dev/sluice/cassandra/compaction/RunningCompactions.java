package dev.sluice.cassandra.compaction;

import dev.sluice.local.protocol.Snapshot;
import dev.sluice.local.protocol.TaskState;
import java.util.EnumSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.cassandra.db.compaction.CompactionInfo;
import org.apache.cassandra.db.compaction.CompactionManager;
import org.apache.cassandra.db.compaction.OperationType;
import org.apache.cassandra.metrics.CassandraMetricsRegistry;

/** What the node compacts now: the operations that its rate limiter paces. */
final class RunningCompactions {
  private static final Set<OperationType> PACED =
      EnumSet.of(
          OperationType.ANTICOMPACTION,
          OperationType.CLEANUP,
          OperationType.COMPACTION,
          OperationType.GARBAGE_COLLECT,
          OperationType.MAJOR_COMPACTION,
          OperationType.RELOCATE,
          OperationType.SCRUB,
          OperationType.TOMBSTONE_COMPACTION,
          OperationType.UPGRADE_SSTABLES,
          OperationType.VERIFY);
  private static final double NANOS_PER_SECOND = 1e9;
  private static final double LEAST_RATE_SECONDS = 1;

  private final Map<CompactionInfo.Holder, Progress> progress = new IdentityHashMap<>();

  /** How far one has come, and since when it is known. */
  private static final class Progress {
    final long firstNanos;
    long sinceNanos;
    long sinceBytes;
    long heldNanos;
    double rate;

    Progress(long now, long bytes) {
      firstNanos = now;
      sinceNanos = now;
      sinceBytes = bytes;
    }

    void look(long now, long bytes) {
      double seconds = (now - sinceNanos) / NANOS_PER_SECOND;
      if (seconds < LEAST_RATE_SECONDS) {
        return;
      }
      rate = Math.max(0, bytes - sinceBytes) / seconds;
      sinceNanos = now;
      sinceBytes = bytes;
    }
  }

  private static List<CompactionInfo.Holder> now() {
    return CompactionManager.instance.active.getCompactions().stream()
        .filter(holder -> PACED.contains(holder.getCompactionInfo().getTaskType()))
        .toList();
  }

  /** Takes note of their progress. */
  synchronized void look(boolean isHeld, long passedNanos) {
    long nanos = System.nanoTime();
    List<CompactionInfo.Holder> holders = now();
    progress.keySet().retainAll(holders);
    for (CompactionInfo.Holder holder : holders) {
      CompactionInfo info = holder.getCompactionInfo();
      long bytes = onDisk(info, info.getCompleted());
      Progress known = progress.computeIfAbsent(holder, key -> new Progress(nanos, bytes));
      known.look(nanos, bytes);
      known.heldNanos += isHeld ? passedNanos : 0;
    }
  }

  /** Whether one was told to end and has not yet. */
  boolean isAnyStopped() {
    return now().stream().anyMatch(CompactionInfo.Holder::isStopRequested);
  }

  /** Whether more run than are shown: one is shown when it has passed the limiter once. */
  boolean isAnyHidden() {
    int threads =
        CassandraMetricsRegistry.Metrics.getThreadPoolMetrics("CompactionExecutor")
            .map(pool -> pool.activeTasks.getValue())
            .orElse(0);
    return threads > now().size();
  }

  boolean isRunning(String keyspace, String table) {
    return now().stream()
        .map(CompactionInfo.Holder::getCompactionInfo)
        .anyMatch(
            info ->
                info.getKeyspace().equals(Optional.of(keyspace))
                    && info.getTable().equals(Optional.of(table)));
  }

  /** The one that snapshots show so. */
  static Optional<CompactionInfo.Holder> find(String task) {
    return now().stream()
        .filter(holder -> idOf(holder.getCompactionInfo()).equals(task))
        .findFirst();
  }

  private static String idOf(CompactionInfo info) {
    return info.getTaskId().toString();
  }

  /** What the limiter counts: bytes of files, of which Cassandra shows those before compression. */
  private static long onDisk(CompactionInfo info, long bytes) {
    if (info.getTotal() <= 0) {
      return bytes;
    }
    return (long) ((double) bytes / info.getTotal() * info.getTotalCompressed());
  }

  synchronized void report(Snapshot.Builder snapshot, boolean isHeld) {
    long nanos = System.nanoTime();
    for (CompactionInfo.Holder holder : now()) {
      CompactionInfo info = holder.getCompactionInfo();
      Progress known =
          progress.computeIfAbsent(
              holder, key -> new Progress(nanos, onDisk(info, info.getCompleted())));
      TaskState state =
          holder.isStopRequested() ? TaskState.FAILED : isHeld ? TaskState.HELD : TaskState.RUNNING;
      snapshot.task(
          new Snapshot.Task(
              idOf(info),
              CompactionPart.KIND,
              info.getKeyspace().orElse("") + "." + info.getTable().orElse(""),
              state,
              info.getTaskType().name().toLowerCase(Locale.ROOT).replace('_', '-'),
              onDisk(info, info.getCompleted()),
              info.getTotalCompressed(),
              known.rate,
              known.heldNanos / NANOS_PER_SECOND,
              (nanos - known.firstNanos) / NANOS_PER_SECOND));
    }
  }
}
