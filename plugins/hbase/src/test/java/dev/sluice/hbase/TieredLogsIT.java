package dev.sluice.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.hbase.log.TieredWALProvider;
import dev.sluice.local.protocol.ProtocolClient;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.Region;
import org.apache.hadoop.hbase.wal.AbstractFSWALProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A region server with a log on each tier. */
class TieredLogsIT {
  private static final String ORDER =
      "{'kind':'log-placement','scope':'','setting':{'name':'%s',%s},"
          + "'owner':'test','time_to_live_seconds':60}";
  private static final int ROWS = 20;

  private static PluginCluster cluster;
  private ProtocolClient client;

  @BeforeAll
  static void start() throws Exception {
    cluster = new PluginCluster(1, Map.of("hbase.wal.provider", TieredWALProvider.class.getName()));
  }

  @AfterAll
  static void stop() throws Exception {
    cluster.close();
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

  private static void orderTier(ProtocolClient client, String tier) throws IOException {
    client.call("set", ORDER.formatted("tier", "'text':'" + tier + "'"));
  }

  private static void orderNumber(ProtocolClient client, String name, double number)
      throws IOException {
    client.call("set", ORDER.formatted(name, "'number':" + number));
  }

  private double figure(String name) throws IOException {
    return (Double) ((Map<?, ?>) client.snapshot().get("figures")).get(name);
  }

  private static List<Path> logs(HRegionServer server, String tier) throws IOException {
    String folder = AbstractFSWALProvider.getWALDirectoryName(server.getServerName().toString());
    List<Path> found = new ArrayList<>();
    for (FileStatus file :
        server.getWALFileSystem().listStatus(new Path(server.getWALRootDir(), folder))) {
      if (file.getPath().getName().contains("." + tier + ".")) {
        found.add(file.getPath());
      }
    }
    return found;
  }

  /** Writes rows in turn to both logs. */
  private static void writeToBoth(ProtocolClient client, TableName table) throws Exception {
    for (int i = 0; i < ROWS; i++) {
      orderTier(client, i % 2 == 0 ? "slow" : "fast");
      cluster.write(table, i / 2, 1);
    }
  }

  @Test
  void eachLogHasThePolicyOfItsTier() throws Exception {
    FileSystem files = cluster.server().getWALFileSystem();
    for (Path file : logs(cluster.server(), "fast")) {
      assertEquals("ALL_SSD", files.getStoragePolicy(file).getName());
    }
    for (Path file : logs(cluster.server(), "slow")) {
      assertEquals("HOT", files.getStoragePolicy(file).getName());
    }
    assertEquals(1, logs(cluster.server(), "slow").size());
  }

  @Test
  void anOrderSendsEditsToALogAtOnce() throws Exception {
    TableName table = cluster.create("tierordered");
    orderTier(client, "slow");
    double slow = figure("wal_slow_bytes_total");
    double fast = figure("wal_fast_edits_total");
    cluster.write(table, 0, ROWS);
    assertTrue(figure("wal_slow_bytes_total") >= slow + ROWS * PluginCluster.VALUE_BYTES);
    assertEquals(fast, figure("wal_fast_edits_total"));
  }

  @Test
  void largeEditsAreRedirected() throws Exception {
    TableName table = cluster.create("tiersize");
    orderNumber(client, "redirect_queue_requests", 1000);
    orderNumber(client, "redirect_size_bytes", PluginCluster.VALUE_BYTES / 2);
    double slow = figure("wal_slow_edits_total");
    cluster.write(table, 0, 1);
    assertEquals(slow + 1, figure("wal_slow_edits_total"));
    orderNumber(client, "redirect_size_bytes", PluginCluster.VALUE_BYTES * 2);
    cluster.write(table, 1, 1);
    assertEquals(slow + 1, figure("wal_slow_edits_total"));
  }

  @Test
  void aFlushLetsTheFilesOfBothGo() throws Exception {
    TableName table = cluster.create("tierflushed");
    writeToBoth(client, table);
    HRegionServer server = cluster.server();
    List<Path> before = new ArrayList<>(logs(server, "slow"));
    before.addAll(logs(server, "fast"));
    for (Region region : server.getRegions()) {
      // Its log is another.
      if (!region.getRegionInfo().isMetaRegion()) {
        cluster.admin().flushRegion(region.getRegionInfo().getRegionName());
      }
    }
    cluster.await(
        () -> {
          cluster.admin().rollWALWriter(server.getServerName());
          List<Path> left = new ArrayList<>(logs(server, "slow"));
          left.addAll(logs(server, "fast"));
          left.retainAll(before);
          return left.isEmpty();
        });
  }

  /** The last value of each row is in one log, the one before in the other. */
  @Test
  void whatAServerThatDiesHasLoggedIsReplayedFromBoth() throws Exception {
    HRegionServer doomed = cluster.startServer("doomed");
    TableName table = cluster.create("tierreplayed");
    cluster.moveTo(doomed, table);
    try (ProtocolClient orders = cluster.client("doomed")) {
      writeToBoth(orders, table);
      assertEquals(1, logs(doomed, "slow").size());
    }
    long before = cluster.contentHash(table);
    cluster.utility().getMiniHBaseCluster().killRegionServer(doomed.getServerName());
    cluster.await(() -> !cluster.server().getRegions(table).isEmpty());
    assertEquals(before, cluster.contentHash(table));
  }
}
