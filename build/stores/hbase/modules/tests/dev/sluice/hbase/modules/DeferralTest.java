package dev.sluice.hbase.modules;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;

import dev.sluice.hbase.modules.KeepingController.Kept;
import java.util.Optional;
import org.apache.hadoop.hbase.TableName;
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

/** A queued compaction that the controller keeps, and what may happen to it meanwhile. */
public class DeferralTest {
  private static final int ROWS = 30;

  @ClassRule
  public static final Cluster CLUSTER =
      new Cluster(
          configuration ->
              configuration.set(
                  CompactionThroughputControllerFactory.HBASE_THROUGHPUT_CONTROLLER_KEY,
                  KeepingController.class.getName()));

  private final RecordingTracker tracker = new RecordingTracker();

  @After
  public void letGo() {
    KeepingController.keep(false);
    KeepingController.failWith(null);
    CLUSTER.compactSplit().switchCompaction(true);
  }

  @Test
  public void aKeptCompactionRunsWhenItIsSubmittedAgain() throws Exception {
    HRegion region = CLUSTER.regionWithFiles("resubmitted", Cluster.FAMILY);
    HStore store = region.getStore(Cluster.FAMILY);
    Kept kept = keep(region);
    assertSame(store, kept.store());
    assertEquals(Cluster.FILES, kept.selected().getRequest().getFiles().size());
    assertTrue(split().isUnderCompaction(store));
    assertEquals(0, split().getCompactionQueueSize());
    assertEquals(Cluster.FILES, store.getStorefilesCount());

    KeepingController.keep(false);
    kept.resubmit().run();
    CLUSTER.waitUntil(() -> tracker.completed.get() == 1);
    assertEquals(1, tracker.executions.get());
    assertEquals(1, store.getStorefilesCount());
    CLUSTER.waitUntil(() -> !split().isUnderCompaction(store));
    assertEquals(ROWS, CLUSTER.rows("resubmitted"));
  }

  @Test
  public void keptCompactionsHoldNoThread() throws Exception {
    byte[][] families = {Bytes.toBytes("b"), Bytes.toBytes("c"), Bytes.toBytes("d")};
    HRegion waiting = CLUSTER.regionWithFiles("waiting", families);
    KeepingController.keep(true);
    for (byte[] family : families) {
      CLUSTER.requestMajor(waiting, family, CompactionLifeCycleTracker.DUMMY);
    }
    Kept[] kept = {KeepingController.take(), KeepingController.take(), KeepingController.take()};
    KeepingController.keep(false);

    HRegion running = CLUSTER.regionWithFiles("running", Cluster.FAMILY);
    CLUSTER.requestMajor(running, Cluster.FAMILY, tracker);
    CLUSTER.waitUntil(() -> tracker.completed.get() == 1);
    for (byte[] family : families) {
      assertEquals(Cluster.FILES, waiting.getStore(family).getStorefilesCount());
    }

    // In another order than they came.
    for (int number = kept.length - 1; number >= 0; number--) {
      HStore store = kept[number].store();
      kept[number].resubmit().run();
      CLUSTER.waitUntil(() -> store.getStorefilesCount() == 1);
    }
  }

  @Test
  public void aSecondSubmissionDoesNothing() throws Exception {
    HRegion region = CLUSTER.regionWithFiles("twice", Cluster.FAMILY);
    Kept kept = keep(region);
    KeepingController.keep(false);
    kept.resubmit().run();
    kept.resubmit().run();
    CLUSTER.waitUntil(() -> tracker.completed.get() == 1);
    kept.resubmit().run();
    // Both threads take from the queue in order: what was submitted before has ended by then.
    RecordingTracker later = new RecordingTracker();
    CLUSTER.requestMajor(region, Cluster.FAMILY, later);
    CLUSTER.waitUntil(() -> later.completed.get() == 1);
    assertEquals(1, tracker.executions.get());
    assertEquals(1, tracker.completed.get());
  }

  @Test
  public void itIsAskedAgainAndThePriorityIsTheSame() throws Exception {
    HRegion region = CLUSTER.regionWithFiles("again", Cluster.FAMILY);
    Kept first = keep(region);
    first.resubmit().run();
    Kept second = KeepingController.take();
    assertEquals(Store.PRIORITY_USER, first.priority());
    assertEquals(first.priority(), second.priority());
    assertEquals(first.queuedAtMilliseconds(), second.queuedAtMilliseconds());
    assertSame(first.selected(), second.selected());
    KeepingController.keep(false);
    second.resubmit().run();
    CLUSTER.waitUntil(() -> tracker.completed.get() == 1);
  }

  @Test
  public void aSystemCompactionHasNoFilesYet() throws Exception {
    HRegion region = CLUSTER.regionWithFiles("system", Cluster.FAMILY);
    HStore store = region.getStore(Cluster.FAMILY);
    KeepingController.keep(true);
    split().requestSystemCompaction(region, store, "test");
    Kept kept = KeepingController.take();
    assertNull(kept.selected());
    assertTrue(split().isUnderCompaction(store));
    KeepingController.keep(false);
    kept.resubmit().run();
    CLUSTER.waitUntil(() -> !split().isUnderCompaction(store));
    assertEquals(Cluster.FILES, store.getStorefilesCount());
  }

  @Test
  public void aRegionClosesWhileItsCompactionIsKept() throws Exception {
    HRegion region = CLUSTER.regionWithFiles("closed", Cluster.FAMILY);
    Kept kept = keep(region);
    CLUSTER.admin().disableTable(TableName.valueOf("closed"));
    assertTrue(region.isClosed());
    // Still wanted, but a closed region is not asked about: it goes through, and is dropped.
    kept.resubmit().run();
    CLUSTER.waitUntil(() -> tracker.completed.get() == 1);
    CLUSTER.waitUntil(() -> !split().isUnderCompaction(kept.store()));
    KeepingController.keep(false);

    CLUSTER.admin().enableTable(TableName.valueOf("closed"));
    RecordingTracker again = new RecordingTracker();
    CLUSTER.requestMajor(CLUSTER.region("closed"), Cluster.FAMILY, again);
    CLUSTER.waitUntil(() -> again.completed.get() == 1);
    assertEquals(1, again.executions.get());
    assertEquals(ROWS, CLUSTER.rows("closed"));
  }

  @Test
  public void aRegionIsSplitWhileItsCompactionIsKept() throws Exception {
    HRegion parent = CLUSTER.regionWithFiles("split", Cluster.FAMILY);
    Kept kept = keep(parent);
    // Daughters have references to compact: those compactions are not the ones to look at.
    KeepingController.keep(false);
    CLUSTER.admin().split(TableName.valueOf("split"), Bytes.toBytes("row-5"));
    CLUSTER.waitUntil(() -> parent.isClosed());
    kept.resubmit().run();
    CLUSTER.waitUntil(() -> tracker.completed.get() == 1);
    CLUSTER.waitUntil(() -> CLUSTER.admin().getRegions(TableName.valueOf("split")).size() == 2);
    assertEquals(ROWS, CLUSTER.rows("split"));
  }

  @Test
  public void compactionsAreSwitchedOffWhileOneIsKept() throws Exception {
    HRegion region = CLUSTER.regionWithFiles("switched", Cluster.FAMILY);
    HStore store = region.getStore(Cluster.FAMILY);
    Kept kept = keep(region);
    split().switchCompaction(false);
    split().switchCompaction(true);
    kept.resubmit().run();
    assertEquals(1, tracker.notExecuted.get());
    assertEquals(1, tracker.completed.get());
    assertFalse(split().isUnderCompaction(store));

    store.triggerMajorCompaction();
    Optional<CompactionContext> selected =
        store.requestCompaction(Store.PRIORITY_USER, CompactionLifeCycleTracker.DUMMY, null);
    assertTrue(selected.isPresent());
    store.cancelRequestedCompaction(selected.get());
  }

  @Test
  public void aControllerThatFailsDefersNothing() throws Exception {
    HRegion region = CLUSTER.regionWithFiles("failing", Cluster.FAMILY);
    KeepingController.failWith(new IllegalStateException("as the test wants it"));
    CLUSTER.requestMajor(region, Cluster.FAMILY, tracker);
    CLUSTER.waitUntil(() -> tracker.completed.get() == 1);
    assertEquals(1, tracker.executions.get());
    assertEquals(1, region.getStore(Cluster.FAMILY).getStorefilesCount());
  }

  private Kept keep(HRegion region) throws Exception {
    KeepingController.keep(true);
    CLUSTER.requestMajor(region, Cluster.FAMILY, tracker);
    return KeepingController.take();
  }

  private static CompactSplit split() {
    return CLUSTER.compactSplit();
  }
}
