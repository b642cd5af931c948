package dev.sluice.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.protocol.ProtocolClient;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.ServerLogs;
import org.apache.hadoop.hbase.wal.AbstractFSWALProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Moves of the logs of a region server that serves. */
@ExtendWith(PluginCluster.Shared.class)
class LogPlacementIT {
  private static final String FAST_POLICY = "ALL_SSD";
  private static final String DEFAULT_POLICY = "HOT";
  private static final String ORDER =
      "{'kind':'log-placement','scope':'%s','setting':{'name':'tier','text':'%s'},"
          + "'owner':'test','time_to_live_seconds':%s}";
  private static final int MOVES = 10;
  private static final int ROWS = 10;

  private final PluginCluster cluster;
  private ProtocolClient client;

  LogPlacementIT(PluginCluster cluster) {
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
    cluster.await(() -> policy().equals(DEFAULT_POLICY));
  }

  private void order(String tier, double seconds) throws Exception {
    client.call("set", ORDER.formatted("", tier, seconds));
  }

  private Path log() throws Exception {
    return AbstractFSWALProvider.getCurrentFileName(cluster.server().getWALs().get(0));
  }

  private String policy() throws Exception {
    HRegionServer server = cluster.server();
    String folder = AbstractFSWALProvider.getWALDirectoryName(server.getServerName().toString());
    return server
        .getWALFileSystem()
        .getStoragePolicy(new Path(server.getWALRootDir(), folder))
        .getName();
  }

  private double figure(String name) throws Exception {
    return (Double) ((Map<?, ?>) client.snapshot().get("figures")).get(name);
  }

  @Test
  void anOrderMovesTheLogAndItsEndMovesItBack() throws Exception {
    TableName table = cluster.create("logmoved");
    cluster.write(table, 0, 1);
    Path before = log();
    order("fast", ProtocolClient.LONG_SECONDS);
    cluster.await(() -> policy().equals(FAST_POLICY) && !log().equals(before));
    // The name of the file is there before the file is in use.
    cluster.await(
        () -> {
          cluster.write(table, 1, 1);
          return figure("wal_fast_bytes_total") >= PluginCluster.VALUE_BYTES;
        });
    Path moved = log();
    client.clear();
    cluster.await(() -> policy().equals(DEFAULT_POLICY) && !log().equals(moved));
  }

  @Test
  void theLogOfMetaIsKnown() {
    assertTrue(
        ServerLogs.of(cluster.server()).stream()
            .map(log -> AbstractFSWALProvider.getCurrentFileName(log).getName())
            .anyMatch(name -> name.endsWith(AbstractFSWALProvider.META_WAL_PROVIDER_ID)));
  }

  @Test
  void withoutARenewalTheLogGoesBackByItself() throws Exception {
    order("fast", ProtocolClient.LONG_SECONDS);
    cluster.await(() -> policy().equals(FAST_POLICY));
    order("fast", 1);
    cluster.await(() -> policy().equals(DEFAULT_POLICY));
  }

  @Test
  void movesUnderLoadLoseNothing() throws Exception {
    TableName table = cluster.create("logloaded");
    AtomicBoolean isOver = new AtomicBoolean();
    CompletableFuture<Integer> writer =
        CompletableFuture.supplyAsync(() -> writeUntil(table, isOver));
    double moves = figure("wal_moves_total");
    for (int i = 0; i < MOVES; i++) {
      double before = moves + i;
      order(i % 2 == 0 ? "slow" : "fast", ProtocolClient.LONG_SECONDS);
      cluster.await(() -> figure("wal_moves_total") > before);
    }
    isOver.set(true);
    int rows = writer.get();
    assertEquals(rows, cluster.utility().countRows(table));
    assertEquals(0, figure("wal_move_failures_total"));
  }

  private int writeUntil(TableName table, AtomicBoolean isOver) {
    int rows = 0;
    try {
      while (!isOver.get()) {
        cluster.write(table, rows, ROWS);
        rows += ROWS;
      }
      return rows;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void wrongOrdersAreRefused() throws Exception {
    cluster.create("logscope");
    for (String order :
        new String[] {ORDER.formatted("", "ssd", 5), ORDER.formatted("logscope", "fast", 5)}) {
      ProtocolClient.RefusedException e =
          assertThrows(ProtocolClient.RefusedException.class, () -> client.call("set", order));
      assertEquals(-32602, e.code());
    }
  }
}
