package dev.sluice.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.protocol.ProtocolClient;
import java.io.IOException;
import java.util.List;
import org.apache.hadoop.hbase.MiniHBaseCluster;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.master.HMaster;
import org.apache.hadoop.hbase.master.balancer.BalancerChore;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** What a hold of the balancer stops, and what never, on a cluster of two region servers. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class MasterSafetyIT {
  private static final String BALANCING = "balancing";
  private static final int REGIONS = 10;
  private static final TableName TABLE = TableName.valueOf("balanced");

  private static PluginCluster cluster;
  private ProtocolClient client;

  @BeforeAll
  static void start() throws Exception {
    cluster = new PluginCluster(2);
    cluster
        .utility()
        .createTable(
            TABLE,
            new byte[][] {Bytes.toBytes(PluginCluster.FAMILY)},
            1,
            Bytes.toBytes("00000000"),
            Bytes.toBytes("00000100"),
            REGIONS)
        .close();
    cluster.write(TABLE, 0, 100);
  }

  @AfterAll
  static void stop() throws Exception {
    cluster.close();
  }

  @BeforeEach
  void connect() throws Exception {
    client = cluster.masterClient();
  }

  @AfterEach
  void clear() throws Exception {
    client.clear();
    client.close();
  }

  private static MiniHBaseCluster hbase() {
    return cluster.utility().getMiniHBaseCluster();
  }

  private static HMaster master() {
    return hbase().getMaster();
  }

  private static ServerName server(int index) {
    return hbase().getRegionServer(index).getServerName();
  }

  private static int regionsOn(ServerName server) throws IOException {
    return (int)
        cluster.admin().getRegions(server).stream()
            .filter(region -> region.getTable().equals(TABLE))
            .count();
  }

  /** Moves all regions to the first server, as an operator does. */
  private static void moveAllToFirst() throws Exception {
    for (RegionInfo region : cluster.admin().getRegions(TABLE)) {
      cluster.admin().move(region.getEncodedNameAsBytes(), server(0));
    }
    cluster.await(() -> regionsOn(server(0)) == REGIONS && !hasTransitions());
  }

  private static boolean hasTransitions() {
    return master().getAssignmentManager().hasRegionsInTransition();
  }

  /** A run of the balancer's chore, as the master's clock starts it. */
  private static void runChore() {
    new BalancerChore(master()).choreForTesting();
  }

  @Test
  @Order(1)
  void theChoreMovesNothingUntilTheLeaseEnds() throws Exception {
    client.set(BALANCING, "", "hold");
    moveAllToFirst();
    double putOff = client.figure("balancing_runs_put_off_total");
    runChore();
    assertTrue(client.figure("balancing_runs_put_off_total") > putOff);
    assertTrue(client.snapshot().get("tasks").toString().contains("state=deferred"));
    assertEquals(REGIONS, regionsOn(server(0)));
    client.set(BALANCING, "", "hold", 1);
    cluster.await(
        () -> {
          runChore();
          return regionsOn(server(1)) > 0;
        });
    assertTrue(client.figure("balancing_moved_regions_total") > 0);
  }

  @Test
  @Order(2)
  void anOperatorsRunGoesThroughAHold() throws Exception {
    client.set(BALANCING, "", "hold");
    moveAllToFirst();
    assertTrue(cluster.admin().balance());
    cluster.await(() -> regionsOn(server(1)) > 0);
    assertEquals(List.of(), client.snapshot().get("tasks"));
  }

  /** The last one: it takes a server away. */
  @Test
  @Order(3)
  void theRegionsOfAServerThatDiesAreServedAgainDuringAHold() throws Exception {
    long before = cluster.contentHash(TABLE);
    for (RegionInfo region : cluster.admin().getRegions(TABLE)) {
      cluster.admin().move(region.getEncodedNameAsBytes(), server(1));
    }
    cluster.await(() -> regionsOn(server(1)) == REGIONS);
    client.set(BALANCING, "", "hold");
    client.set("normalization", "", "hold");
    hbase().killRegionServer(server(1));
    ServerName left = server(0);
    cluster.await(() -> regionsOn(left) == REGIONS && !hasTransitions());
    assertEquals(before, cluster.contentHash(TABLE));
    assertEquals(2, client.leases().size());
  }
}
