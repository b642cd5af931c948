package dev.sluice.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sluice.hbase.log.TieredLogRegion;
import dev.sluice.hbase.log.TieredWALProvider;
import dev.sluice.local.protocol.ProtocolClient;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.replication.ReplicationPeerConfig;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What is in either of two logs reaches another cluster, of upstream's settings. */
class ReplicatedLogsIT {
  private static final String PEER = "sink";
  private static final int ROWS = 20;

  private static PluginCluster cluster;
  private static HBaseTestingUtility sink;

  @BeforeAll
  static void start() throws Exception {
    cluster =
        new PluginCluster(
            1,
            Map.of(
                "hbase.wal.provider",
                TieredWALProvider.class.getName(),
                HConstants.REGION_IMPL,
                TieredLogRegion.class.getName(),
                // Else half a minute and more until a server asks for what another has left.
                "replication.sleep.before.failover",
                "0"));
    sink = new HBaseTestingUtility();
    sink.getConfiguration().set(HConstants.ZOOKEEPER_ZNODE_PARENT, "/sink");
    sink.setZkCluster(cluster.utility().getZkCluster());
    sink.setDFSCluster(cluster.utility().getDFSCluster());
    sink.startMiniCluster(1);
    cluster
        .admin()
        .addReplicationPeer(
            PEER, ReplicationPeerConfig.newBuilder().setClusterKey(sink.getClusterKey()).build());
  }

  /** The other cluster first: file system and ZooKeeper are not its own. */
  @AfterAll
  static void stop() throws Exception {
    sink.shutdownMiniHBaseCluster();
    cluster.close();
  }

  private static TableName createOnBoth(String name) throws IOException {
    TableName table = TableName.valueOf(name);
    TableDescriptor descriptor =
        TableDescriptorBuilder.newBuilder(table)
            .setColumnFamily(
                ColumnFamilyDescriptorBuilder.newBuilder(Bytes.toBytes(PluginCluster.FAMILY))
                    .setScope(HConstants.REPLICATION_SCOPE_GLOBAL)
                    .build())
            .build();
    sink.getAdmin().createTable(descriptor);
    cluster.admin().createTable(descriptor);
    return table;
  }

  /** Rows that only one of the logs has, of each log, and rows whose values are in both. */
  private static void writeToBoth(ProtocolClient orders, TableName table) throws IOException {
    String[] tiers = {"slow", "fast", "slow"};
    int first = 0;
    for (String tier : tiers) {
      TierOrders.tier(orders, tier);
      cluster.write(table, first, ROWS);
      first += ROWS / 2;
    }
  }

  private static Map<String, Integer> content(HBaseTestingUtility of, TableName table)
      throws IOException {
    Map<String, Integer> values = new TreeMap<>();
    try (Table open = of.getConnection().getTable(table);
        ResultScanner results = open.getScanner(new Scan())) {
      for (Result result : results) {
        values.put(Bytes.toString(result.getRow()), Bytes.hashCode(result.value()));
      }
    }
    return values;
  }

  private static void awaitOnBoth(TableName table) throws Exception {
    Map<String, Integer> written = content(cluster.utility(), table);
    assertEquals(2 * ROWS, written.size());
    cluster.await(() -> content(sink, table).equals(written));
  }

  @Test
  void bothLogsAreReplicated() throws Exception {
    TableName table = createOnBoth("replicated");
    try (ProtocolClient orders = cluster.client()) {
      writeToBoth(orders, table);
    }
    awaitOnBoth(table);
  }

  /** Nothing of them was sent when their server died: another one sends both, at the same time. */
  @Test
  void bothLogsOfAServerThatDiesAreReplicated() throws Exception {
    assumeTrue(
        PluginCluster.isPatched(), "the store is not patched: give its jar as hbase.server.jar");
    TableName table = createOnBoth("orphaned");
    HRegionServer doomed = cluster.startServer("doomed");
    cluster.moveTo(doomed, table);
    cluster.admin().disableReplicationPeer(PEER);
    try (ProtocolClient orders = cluster.client("doomed")) {
      writeToBoth(orders, table);
    }
    assertNotEquals(content(cluster.utility(), table), content(sink, table));
    cluster.utility().getMiniHBaseCluster().killRegionServer(doomed.getServerName());
    cluster.await(() -> !cluster.server().getRegions(table).isEmpty());
    cluster.admin().enableReplicationPeer(PEER);
    awaitOnBoth(table);
  }
}
