package dev.sluice.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.sluice.hbase.protocol.ProtocolClient;
import org.apache.hadoop.hbase.TableName;
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

  private TableName heldTable(String name) throws Exception {
    TableName table = cluster.create(name);
    cluster.write(table, 0, ROWS);
    client.set(KIND, name, "hold");
    client.start(KIND, name);
    cluster.await(() -> !client.tasks(KIND, name, "held").isEmpty());
    return table;
  }

  @Test
  void aHeldFlushLosesNothing() throws Exception {
    TableName table = heldTable("flushheld");
    long before = cluster.contentHash(table);
    assertEquals(0, cluster.fileCount(table));
    client.clear();
    cluster.await(() -> cluster.fileCount(table) == 1);
    assertEquals(before, cluster.contentHash(table));
  }

  @Test
  void aRegionClosesDuringAHold() throws Exception {
    TableName table = heldTable("flushclosed");
    long before = cluster.contentHash(table);
    cluster.admin().disableTable(table);
    cluster.admin().enableTable(table);
    assertEquals(before, cluster.contentHash(table));
  }

  @Test
  void whereThereIsNothingInMemoryThereIsNothingToStart() throws Exception {
    cluster.create("flushempty");
    ProtocolClient.RefusedException refused =
        assertThrows(ProtocolClient.RefusedException.class, () -> client.start(KIND, "flushempty"));
    assertEquals(-32003, refused.code());
  }
}
