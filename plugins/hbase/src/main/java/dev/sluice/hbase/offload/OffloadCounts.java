package dev.sluice.hbase.offload;

import dev.sluice.local.protocol.Snapshot;
import dev.sluice.local.protocol.SnapshotReporter;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.LongAdder;

/** What has become of the compactions of this process, each of which is done or has a reason. */
public final class OffloadCounts implements SnapshotReporter {
  /** A process has one region server, whose stores have a compactor each. */
  private static final OffloadCounts PROCESS = new OffloadCounts();

  /** Far above the reasons that there are: an agent could say any. */
  private static final int MOST_REASONS = 64;

  private static final String OTHER = "other";

  private final LongAdder done = new LongAdder();
  private final LongAdder doneBytes = new LongAdder();
  private final Map<String, LongAdder> local = new ConcurrentSkipListMap<>();

  OffloadCounts() {}

  /** Those of this process. */
  public static OffloadCounts ofProcess() {
    return PROCESS;
  }

  void done(long inputBytes) {
    done.increment();
    doneBytes.add(inputBytes);
  }

  void local(String reason) {
    boolean isCounted = local.containsKey(reason) || local.size() < MOST_REASONS;
    local.computeIfAbsent(isCounted ? reason : OTHER, word -> new LongAdder()).increment();
  }

  /** How many compactions another node has done. */
  public long doneTotal() {
    return done.sum();
  }

  /** How many were done here for a reason. */
  public long localTotal(String reason) {
    LongAdder count = local.get(reason);
    return count == null ? 0 : count.sum();
  }

  @Override
  public void report(Snapshot.Builder snapshot) {
    snapshot.figure("compaction_offload_done_total", done.sum());
    snapshot.figure("compaction_offload_done_input_bytes_total", doneBytes.sum());
    local.forEach(
        (reason, count) ->
            snapshot.figure(
                "compaction_offload_local_" + reason.replace('-', '_') + "_total", count.sum()));
  }
}
