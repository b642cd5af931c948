package dev.sluice.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.protocol.ProtocolClient;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Orders on the flushes of a region server that serves. */
@ExtendWith(PluginCluster.Shared.class)
class FlushOrdersIT {
  private static final String KIND = "flush";
  private static final int ROWS = 100;

  private final PluginCluster cluster;
  private ProtocolClient client;

  FlushOrdersIT(PluginCluster cluster) {
    this.cluster = cluster;
  }

  @BeforeEach
  void connect() throws Exception {
    client = cluster.client();
  }

  @AfterEach
  void clear() throws Exception {
    client.clear();
    client.close();
  }

  @Test
  void aHeldFlushLosesNothing() throws Exception {
    TableName table = cluster.create("flushheld");
    cluster.write(table, 0, ROWS);
    client.set(KIND, "flushheld", "hold");
    client.start(KIND, "flushheld");
    cluster.await(() -> !client.tasks(KIND, "flushheld", "held").isEmpty());
    long before = cluster.contentHash(table);
    assertEquals(0, cluster.fileCount(table));
    client.clear();
    cluster.await(() -> cluster.fileCount(table) == 1);
    assertEquals(before, cluster.contentHash(table));
  }

  @Test
  void aSmallFlushIsHeldToo() throws Exception {
    TableName table = cluster.create("flushsmall");
    cluster.write(table, 0, 1);
    client.set(KIND, "flushsmall", "hold");
    client.start(KIND, "flushsmall");
    cluster.await(() -> !client.tasks(KIND, "flushsmall", "held").isEmpty());
    client.clear();
    cluster.await(() -> cluster.fileCount(table) == 1);
  }

  /** Neither is large enough to be looked at again after its first step. */
  @Test
  void aSmallFlushIsChargedForAllThatOneBeforeHasDone() throws Exception {
    TableName first = cluster.create("flushfirst");
    TableName second = cluster.create("flushsecond");
    cluster.write(first, 0, 10);
    cluster.write(second, 0, 1);
    // It takes four seconds for a row, and 40 for the first flush: so late may the second one come.
    client.set(KIND, "", "rate_bytes_per_second=" + PluginCluster.VALUE_BYTES / 4);
    client.start(KIND, "flushfirst");
    cluster.await(() -> cluster.fileCount(first) == 1);
    client.start(KIND, "flushsecond");
    cluster.await(
        () ->
            client.tasks(KIND, "flushsecond", "running").stream()
                .anyMatch(task -> (Double) task.get("throttled_seconds") > 2));
    client.set(KIND, "", "full");
    cluster.await(() -> cluster.fileCount(second) == 1);
  }

  /** Else writes to a region could be blocked by a held flush, and the guard would not see it. */
  @Test
  void aRegionBlocksWritesWhereItsTableSaysSo() throws Exception {
    TableName table = TableName.valueOf("flushblocks");
    cluster
        .admin()
        .createTable(
            TableDescriptorBuilder.newBuilder(table)
                .setColumnFamily(ColumnFamilyDescriptorBuilder.of(PluginCluster.FAMILY))
                .setValue(HConstants.HREGION_MEMSTORE_BLOCK_MULTIPLIER, "2")
                .build());
    cluster.write(table, 0, ROWS);
    Map<?, ?> debt =
        ((List<?>) client.snapshot().get("debts"))
            .stream()
                .<Map<?, ?>>map(each -> (Map<?, ?>) each)
                .filter(each -> KIND.equals(each.get("kind")))
                .filter(each -> "flushblocks".equals(each.get("scope")))
                .findFirst()
                .orElseThrow();
    double limit = (Double) debt.get("limit_bytes");
    assertEquals(2.0, limit / (Double) debt.get("trigger_bytes"), 0.01);
  }

  @Test
  void aRateIsNeverExceeded() throws Exception {
    double rate = 200_000;
    TableName table = cluster.create("flushrate");
    // It would run for half a minute: whoever looks late sees it nevertheless.
    cluster.write(table, 0, 15 * ROWS);
    client.set(KIND, "flushrate/f", "rate_bytes_per_second=" + rate);
    client.start(KIND, "flushrate");
    cluster.await(
        () -> {
          for (Map<?, ?> task : client.tasks(KIND, "flushrate", "running")) {
            double age = (Double) task.get("age_seconds");
            double done = (Double) task.get("bytes_done");
            // Two steps are ahead of the rate.
            double allowed = rate * (age + 0.05) + 2 * (64 << 10);
            assertTrue(done <= allowed, done + " bytes, " + allowed + " are allowed");
            if (done > 3 * rate) {
              return true;
            }
          }
          return false;
        });
    client.set(KIND, "flushrate/f", "full");
    cluster.await(() -> cluster.fileCount(table) == 1);
  }

  @Test
  void whereThereIsNothingInMemoryThereIsNothingToStart() throws Exception {
    cluster.create("flushempty");
    ProtocolClient.RefusedException refused =
        assertThrows(ProtocolClient.RefusedException.class, () -> client.start(KIND, "flushempty"));
    assertEquals(-32003, refused.code());
  }
}
