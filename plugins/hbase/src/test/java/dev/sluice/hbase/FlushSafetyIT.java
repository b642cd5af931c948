package dev.sluice.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.local.protocol.ProtocolClient;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.tool.BulkLoadHFiles;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.HFileTestUtil;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Whatever happens to a region goes through a held flush, and no data are lost. */
@ExtendWith(PluginCluster.Shared.class)
class FlushSafetyIT {
  private static final String KIND = "flush";
  private static final int ROWS = 100;
  private static final String[] FAMILIES = {PluginCluster.FAMILY, "g"};
  private static final byte[] MIDDLE = Bytes.toBytes(String.format("%08d", ROWS / 2));

  private final PluginCluster cluster;
  private ProtocolClient client;

  FlushSafetyIT(PluginCluster cluster) {
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

  private TableName heldTable(String name) throws Exception {
    TableName table = cluster.create(name);
    cluster.write(table, 0, ROWS);
    hold(client, name);
    return table;
  }

  private void hold(ProtocolClient server, String table) throws Exception {
    server.set(KIND, table, "hold");
    server.start(KIND, table);
    cluster.await(() -> !server.tasks(KIND, table, "held").isEmpty());
  }

  @Test
  void aRegionClosesDuringAHold() throws Exception {
    TableName table = heldTable("flushclosed");
    long before = cluster.contentHash(table);
    cluster.admin().disableTable(table);
    assertEquals(List.of(), client.tasks(KIND, "flushclosed", "held"));
    cluster.admin().enableTable(table);
    assertEquals(before, cluster.contentHash(table));
  }

  @Test
  void aRegionSplitsDuringAHold() throws Exception {
    TableName table = heldTable("flushsplit");
    long before = cluster.contentHash(table);
    byte[] region = cluster.regions(table).get(0).getRegionInfo().getRegionName();
    cluster
        .admin()
        .splitRegionAsync(region, MIDDLE)
        .get(PluginCluster.DEADLINE_SECONDS, TimeUnit.SECONDS);
    cluster.await(() -> cluster.regions(table).size() == 2);
    assertEquals(before, cluster.contentHash(table));
  }

  @Test
  void regionsMergeDuringAHold() throws Exception {
    TableName table = TableName.valueOf("flushmerged");
    byte[][] keys = {MIDDLE};
    cluster.utility().createTable(table, Bytes.toBytes(PluginCluster.FAMILY), keys).close();
    cluster.write(table, 0, ROWS);
    long before = cluster.contentHash(table);
    hold(client, "flushmerged");
    byte[][] names =
        cluster.regions(table).stream()
            .map(region -> region.getRegionInfo().getEncodedNameAsBytes())
            .toArray(byte[][]::new);
    cluster
        .admin()
        .mergeRegionsAsync(names, false)
        .get(PluginCluster.DEADLINE_SECONDS, TimeUnit.SECONDS);
    cluster.await(() -> cluster.regions(table).size() == 1);
    assertEquals(before, cluster.contentHash(table));
  }

  private TableName tableOfTwoFamilies(String name) throws Exception {
    TableName table = TableName.valueOf(name);
    cluster.utility().createTable(table, FAMILIES).close();
    cluster.write(table, 0, ROWS);
    return table;
  }

  /** Loads a file into each family, for which the region is locked, and flushed before. */
  private void bulkLoad(TableName table) throws Exception {
    Configuration conf = cluster.utility().getConfiguration();
    Path folder = cluster.utility().getDataTestDirOnTestFS(table.getNameAsString());
    for (String family : FAMILIES) {
      HFileTestUtil.createHFile(
          conf,
          cluster.utility().getTestFileSystem(),
          new Path(new Path(folder, family), "file"),
          Bytes.toBytes(family),
          Bytes.toBytes("q"),
          Bytes.toBytes("x"),
          Bytes.toBytes("y"),
          ROWS);
    }
    BulkLoadHFiles.create(conf).bulkLoad(table, folder);
  }

  /** Else no request gets at the region for as long. */
  @Test
  void aBulkLoadOfSeveralFamiliesFlushesDuringAHold() throws Exception {
    TableName table = tableOfTwoFamilies("flushloaded");
    client.set(KIND, "flushloaded", "hold");
    bulkLoad(table);
    assertEquals(1, client.leases().size(), "the hold is still in force");
    assertEquals(2 * ROWS, cluster.utility().countRows(table));
  }

  @Test
  void aBulkLoadOfSeveralFamiliesNeedNotWaitForAHeldFlush() throws Exception {
    TableName table = tableOfTwoFamilies("flushlocked");
    hold(client, "flushlocked");
    bulkLoad(table);
    assertEquals(1, client.leases().size(), "the hold is still in force");
    assertEquals(2 * ROWS, cluster.utility().countRows(table));
  }

  @Test
  void aRegionMovesAndItsNewServerStopsDuringAHold() throws Exception {
    TableName table = heldTable("flushmoved");
    HRegionServer third = cluster.startServer("third");
    long before;
    try (ProtocolClient other = cluster.client("third")) {
      cluster.moveTo(third, table);
      cluster.write(table, ROWS, ROWS);
      before = cluster.contentHash(table);
      hold(other, "flushmoved");
    } finally {
      third.stop("by the test");
      cluster.await(() -> !third.isAlive());
    }
    cluster.await(() -> cluster.server().getRegions(table).size() == 1);
    assertEquals(before, cluster.contentHash(table));
  }
}
