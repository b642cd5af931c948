package dev.sluice.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sluice.local.protocol.ProtocolClient;
import java.util.Map;
import org.apache.hadoop.hbase.TableName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Reservations of the block cache by the socket: needs a patched store. */
@ExtendWith(PluginCluster.Shared.class)
class CacheOrdersIT {
  private static final TableName TABLE = TableName.valueOf("cacheorders");
  private static final String SCOPE = "cacheorders/" + PluginCluster.FAMILY;
  private static final String FIGURES = "cache_cacheorders_2f" + PluginCluster.FAMILY;

  private final PluginCluster cluster;
  private ProtocolClient client;

  CacheOrdersIT(PluginCluster cluster) {
    this.cluster = cluster;
  }

  @BeforeEach
  void connect() throws Exception {
    assumeTrue(
        PluginCluster.isPatched(), "the store is not patched: give its jar as hbase.server.jar");
    client = cluster.client();
    cluster.addFile(cluster.create(TABLE.getNameAsString()), 0, 10);
  }

  @AfterEach
  void clear() throws Exception {
    if (client == null) {
      return;
    }
    client.clear();
    client.close();
    cluster.utility().deleteTable(TABLE);
  }

  private Map<?, ?> figures() throws Exception {
    return (Map<?, ?>) client.snapshot().get("figures");
  }

  @Test
  void aLeaseReservesAndItsEndGivesBack() throws Exception {
    client.set("cache", SCOPE, "reserved_bytes=2097152");
    cluster.await(() -> client.figure("cache_reserved_bytes") == 2097152);
    assertEquals(2097152.0, client.figure(FIGURES + "_reserved_bytes"));
    client.clear();
    cluster.await(() -> client.figure("cache_reserved_bytes") == 0);
    assertTrue(!figures().containsKey(FIGURES + "_reserved_bytes"));
  }

  @Test
  void whatCannotBeReservedIsRefused() {
    refused(-32003, "", "reserved_bytes=2097152");
    refused(-32003, SCOPE, "reserved_bytes=1e15");
    refused(-32003, SCOPE, "reserved_bytes=1000");
    refused(-32003, SCOPE, "reserved_bytes=0.5");
    refused(-32004, "nosuchtable", "reserved_bytes=2097152");
    refused(-32001, SCOPE, "hold");
  }

  private void refused(int code, String scope, String setting) {
    ProtocolClient.RefusedException refused =
        assertThrows(
            ProtocolClient.RefusedException.class, () -> client.set("cache", scope, setting));
    assertEquals(code, refused.code());
  }

  @Test
  void aFamilyThatIsReadShowsItsLookups() throws Exception {
    cluster.contentHash(TABLE);
    assertTrue(client.figure(FIGURES + "_misses_total") > 0);
    cluster.contentHash(TABLE);
    assertTrue(client.figure(FIGURES + "_hits_total") > 0);
  }
}
