package dev.sluice.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.local.protocol.ProtocolClient;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.Store;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionLifeCycleTracker;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Whatever happens to a region goes through a hold, and no data are lost. */
@ExtendWith(PluginCluster.Shared.class)
class RegionSafetyIT {
  private static final String KIND = "compaction";
  private static final int ROWS = 100;

  private final PluginCluster cluster;
  private ProtocolClient client;

  RegionSafetyIT(PluginCluster cluster) {
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
    cluster.addFile(table, 0, ROWS);
    cluster.addFile(table, ROWS, ROWS);
    client.set(KIND, name, "hold");
    client.start(KIND, name);
    cluster.await(() -> !client.tasks(KIND, name, "held").isEmpty());
    return table;
  }

  private RegionInfo firstRegion(TableName table) {
    return cluster.regions(table).get(0).getRegionInfo();
  }

  private void compactAfter(TableName table) throws Exception {
    client.clear();
    cluster.await(() -> !cluster.isUnderCompaction(table));
    client.start(KIND, table.getNameAsString());
    cluster.await(() -> cluster.fileCount(table) == cluster.regions(table).size());
  }

  @Test
  void aRegionClosesDuringAHold() throws Exception {
    TableName table = heldTable("closed");
    long before = cluster.contentHash(table);
    cluster.admin().disableTable(table);
    assertEquals(List.of(), client.tasks(KIND, "closed", "held"));
    cluster.admin().enableTable(table);
    assertEquals(before, cluster.contentHash(table));
    compactAfter(table);
    assertEquals(before, cluster.contentHash(table));
  }

  @Test
  void aRegionSplitsDuringAHold() throws Exception {
    TableName table = heldTable("split");
    long before = cluster.contentHash(table);
    byte[] middle = Bytes.toBytes(String.format("%08d", ROWS));
    cluster
        .admin()
        .splitRegionAsync(firstRegion(table).getRegionName(), middle)
        .get(PluginCluster.DEADLINE_SECONDS, TimeUnit.SECONDS);
    cluster.await(() -> cluster.regions(table).size() == 2);
    assertEquals(before, cluster.contentHash(table));
  }

  @Test
  void regionsMergeDuringAHold() throws Exception {
    TableName table = TableName.valueOf("merged");
    byte[][] keys = {Bytes.toBytes(String.format("%08d", ROWS))};
    cluster.utility().createTable(table, Bytes.toBytes(PluginCluster.FAMILY), keys).close();
    cluster.addFile(table, 0, 2 * ROWS);
    cluster.addFile(table, 0, 2 * ROWS);
    long before = cluster.contentHash(table);
    client.set(KIND, "merged", "hold");
    client.start(KIND, "merged");
    cluster.await(() -> !client.tasks(KIND, "merged", "held").isEmpty());
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

  /** As that of a region with references: it is asked for before the server lists the region. */
  @Test
  void aCompactionMayBeginBeforeItsRegionIsListed() throws Exception {
    TableName table = cluster.createWithTwoFiles("opening", ROWS);
    long before = cluster.contentHash(table);
    HRegion region = cluster.regions(table).get(0);
    client.set(KIND, "opening", "hold");
    cluster.server().removeRegion(region, null);
    region.getStores().forEach(HStore::triggerMajorCompaction);
    cluster
        .server()
        .getCompactionRequestor()
        .requestCompaction(
            region, "by the test", Store.PRIORITY_USER, CompactionLifeCycleTracker.DUMMY, null);
    cluster.await(() -> !client.tasks(KIND, "opening", "held").isEmpty());
    cluster.server().addRegion(region);
    cluster.admin().disableTable(table);
    assertEquals(List.of(), client.tasks(KIND, "opening", "held"));
    cluster.admin().enableTable(table);
    assertEquals(before, cluster.contentHash(table));
    compactAfter(table);
    assertEquals(before, cluster.contentHash(table));
  }

  @Test
  void compactionsAreSwitchedOffDuringAHold() throws Exception {
    TableName table = heldTable("switched");
    long before = cluster.contentHash(table);
    cluster.admin().compactionSwitch(false, List.of());
    cluster.await(() -> client.tasks(KIND, "switched", "held").isEmpty());
    cluster.admin().compactionSwitch(true, List.of());
    compactAfter(table);
    assertEquals(before, cluster.contentHash(table));
  }

  @Test
  void aRegionMovesAndItsNewServerStopsDuringAHold() throws Exception {
    TableName table = heldTable("moved");
    long before = cluster.contentHash(table);
    HRegionServer second = cluster.startServer("second");
    try (ProtocolClient other = cluster.client("second")) {
      cluster.moveTo(second, table);
      assertEquals(before, cluster.contentHash(table));
      other.set(KIND, "", "hold");
      cluster.admin().majorCompact(table);
      cluster.await(() -> !other.tasks(KIND, "moved", "held").isEmpty());
    } finally {
      second.stop("by the test");
      cluster.await(() -> !second.isAlive());
    }
    cluster.await(() -> cluster.server().getRegions(table).size() == 1);
    assertEquals(before, cluster.contentHash(table));
    compactAfter(table);
    assertEquals(before, cluster.contentHash(table));
  }
}
