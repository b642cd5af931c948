package dev.sluice.hbase.modules;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotSame;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.regionserver.CompactSplit;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.throttle.CompactionThroughputControllerFactory;
import org.apache.hadoop.hbase.regionserver.throttle.ThroughputController;
import org.junit.ClassRule;
import org.junit.Test;

/** What becomes of the controller, and of what runs, when settings change. */
public class SettingsTest {
  @ClassRule
  public static final Cluster CLUSTER =
      new Cluster(
          configuration ->
              configuration.set(
                  CompactionThroughputControllerFactory.HBASE_THROUGHPUT_CONTROLLER_KEY,
                  SettledController.class.getName()));

  @Test
  public void aRunningCompactionFollowsNewSettings() throws Exception {
    HRegion region = CLUSTER.regionWithFiles("running", Cluster.FAMILY);
    CompactSplit split = CLUSTER.compactSplit();
    ThroughputController before = split.getCompactionThroughputController();
    RecordingTracker tracker = new RecordingTracker();
    CLUSTER.requestMajor(region, Cluster.FAMILY, tracker);
    change(true);
    CLUSTER.waitUntil(() -> tracker.completed.get() == 1);
    assertEquals(1, region.getStore(Cluster.FAMILY).getStorefilesCount());
    assertSame(before, split.getCompactionThroughputController());
    assertFalse(before.isStopped());
  }

  @Test
  public void aControllerThatDoesNotTakeThemOverIsReplaced() {
    CompactSplit split = CLUSTER.compactSplit();
    ThroughputController before = split.getCompactionThroughputController();
    change(false);
    assertNotSame(before, split.getCompactionThroughputController());
    assertTrue(before.isStopped());
  }

  private static void change(boolean takesOver) {
    Configuration changed = new Configuration(CLUSTER.configuration());
    changed.setBoolean(SettledController.TAKES_OVER, takesOver);
    CLUSTER.compactSplit().onConfigurationChange(changed);
  }
}
