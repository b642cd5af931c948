package dev.sluice.hbase.modules;

import static org.junit.Assert.assertEquals;

import java.util.Optional;
import org.apache.hadoop.hbase.regionserver.CompactSplit;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.Store;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionContext;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionLifeCycleTracker;
import org.apache.hadoop.hbase.regionserver.throttle.CompactionThroughputControllerFactory;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;

/**
 * What becomes of a compaction that is queued when compactions are switched off. On a stock build,
 * which the system property says, its files stay selected for ever.
 */
public class DroppedCompactionTest {
  private static final boolean MENDED = !Boolean.getBoolean("sluice.stock");
  private static final byte[][] FAMILIES = {
    Bytes.toBytes("first"), Bytes.toBytes("second"), Bytes.toBytes("third")
  };
  private static final byte[] QUEUED = FAMILIES[2];

  @ClassRule
  public static final Cluster CLUSTER =
      new Cluster(
          configuration ->
              configuration.set(
                  CompactionThroughputControllerFactory.HBASE_THROUGHPUT_CONTROLLER_KEY,
                  GateController.class.getName()));

  @After
  public void letGo() {
    GateController.open();
    CLUSTER.compactSplit().switchCompaction(true);
  }

  @Test
  public void filesOfADroppedCompactionCanBeSelectedAgain() throws Exception {
    HRegion region = CLUSTER.regionWithFiles("selected", FAMILIES);
    HStore store = region.getStore(QUEUED);
    RecordingTracker tracker = dropQueued(region);
    assertEquals(MENDED, !CLUSTER.compactSplit().isUnderCompaction(store));
    assertEquals(MENDED ? 1 : 0, tracker.notExecuted.get());
    assertEquals(MENDED ? 1 : 0, tracker.completed.get());

    store.triggerMajorCompaction();
    Optional<CompactionContext> selected =
        store.requestCompaction(Store.PRIORITY_USER, CompactionLifeCycleTracker.DUMMY, null);
    selected.ifPresent(store::cancelRequestedCompaction);
    assertEquals(MENDED, selected.isPresent());
  }

  @Test
  public void aDroppedCompactionCanBeRequestedAgain() throws Exception {
    HRegion region = CLUSTER.regionWithFiles("requested", FAMILIES);
    dropQueued(region);
    GateController.open();

    RecordingTracker again = new RecordingTracker();
    CLUSTER.requestMajor(region, QUEUED, again);
    CLUSTER.waitUntil(() -> again.completed.get() == 1);
    assertEquals(MENDED ? 1 : Cluster.FILES, region.getStore(QUEUED).getStorefilesCount());
    assertEquals(MENDED ? 1 : 0, again.executions.get());
  }

  /** Fills both threads and the queue, then switches compactions off and on. */
  private static RecordingTracker dropQueued(HRegion region) throws Exception {
    CompactSplit split = CLUSTER.compactSplit();
    GateController.close();
    RecordingTracker running = new RecordingTracker();
    for (int number = 0; number < 2; number++) {
      CLUSTER.requestMajor(region, FAMILIES[number], running);
      int expected = number + 1;
      CLUSTER.waitUntil(() -> GateController.waiting() == expected);
    }
    RecordingTracker queued = new RecordingTracker();
    CLUSTER.requestMajor(region, QUEUED, queued);
    CLUSTER.waitUntil(() -> split.getCompactionQueueSize() == 1);
    split.switchCompaction(false);
    CLUSTER.waitUntil(() -> running.completed.get() == 2);
    split.switchCompaction(true);
    return queued;
  }
}
