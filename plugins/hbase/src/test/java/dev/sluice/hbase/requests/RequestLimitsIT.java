package dev.sluice.hbase.requests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.hbase.PluginCluster;
import dev.sluice.local.protocol.ProtocolClient;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.quotas.RpcThrottlingException;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Requests of a real client to a region server that takes no more than a lease says. */
@ExtendWith(PluginCluster.Shared.class)
@Timeout(300)
class RequestLimitsIT {
  private static final TableName NAME = TableName.valueOf("limitedrequests");
  private static final TableName OTHER = TableName.valueOf("otherrequests");
  private static final int CALLS = 20;

  private final PluginCluster cluster;
  private ProtocolClient client;
  private Connection impatient;

  RequestLimitsIT(PluginCluster cluster) {
    this.cluster = cluster;
  }

  @BeforeEach
  void open() throws Exception {
    client = cluster.client();
    for (TableName table : List.of(NAME, OTHER)) {
      if (!cluster.admin().tableExists(table)) {
        cluster.create(table.getNameAsString());
      }
    }
    Configuration once = new Configuration(cluster.utility().getConfiguration());
    once.setInt(HConstants.HBASE_CLIENT_RETRIES_NUMBER, 0);
    impatient = ConnectionFactory.createConnection(once);
    // It knows where the regions are before anything is counted.
    get(impatient, NAME);
    get(impatient, OTHER);
  }

  @AfterEach
  void close() throws Exception {
    client.clear();
    client.close();
    impatient.close();
  }

  private static void get(Connection connection, TableName name) throws IOException {
    try (Table table = connection.getTable(name)) {
      table.get(new Get(Bytes.toBytes("row")));
    }
  }

  /** What clients that ask once are told when they are turned away. */
  private List<RpcThrottlingException> refusals(TableName name) throws IOException {
    List<RpcThrottlingException> refusals = new ArrayList<>();
    for (int call = 0; call < CALLS; call++) {
      try {
        get(impatient, name);
      } catch (IOException e) {
        refusals.add(throttling(e));
      }
    }
    return refusals;
  }

  private static RpcThrottlingException throttling(IOException error) throws IOException {
    for (Throwable cause = error; cause != null; cause = cause.getCause()) {
      if (cause instanceof RpcThrottlingException found) {
        return found;
      }
    }
    throw error;
  }

  private double figure(String name) throws Exception {
    return client.figure("requests_limitedrequests_" + name);
  }

  @Test
  void whatIsBeyondTheLimitIsToldWhenToComeBack() throws Exception {
    client.set("requests", NAME.getNameAsString(), "rate_operations_per_second=1");
    List<RpcThrottlingException> refusals = refusals(NAME);
    assertTrue(!refusals.isEmpty() && refusals.size() < CALLS, refusals.size() + " refused");
    assertEquals(RpcThrottlingException.Type.NumRequestsExceeded, refusals.get(0).getType());
    for (RpcThrottlingException refusal : refusals) {
      long wait = refusal.getWaitInterval();
      assertTrue(wait > 0 && wait <= 1000, wait + " ms");
    }
    assertEquals(refusals.size(), figure("refused_total"));
    assertEquals(CALLS - refusals.size(), figure("taken_total"));
    assertEquals(List.of(), refusals(OTHER));

    client.clear();
    assertEquals(List.of(), refusals(NAME));
  }

  /** Upstream's client waits and asks again by itself. */
  @Test
  void aClientThatAsksAgainIsServedInTheEnd() throws Exception {
    client.set("requests", NAME.getNameAsString(), "rate_operations_per_second=10");
    for (int call = 0; call < CALLS; call++) {
      get(cluster.utility().getConnection(), NAME);
    }
    assertTrue(figure("refused_total") > 0);
    assertEquals(CALLS, figure("taken_total"));
  }

  @Test
  void theServersQueueIsAsLongAsBefore() throws Exception {
    client.set("requests", NAME.getNameAsString(), "rate_operations_per_second=1");
    assertTrue(!refusals(NAME).isEmpty());
    cluster.await(
        () -> cluster.server().getRpcServer().getScheduler().getGeneralQueueLength() == 0);
    client.clear();
    assertEquals(List.of(), refusals(NAME));
  }

  @Test
  void whatCannotBeLimitedIsRefused() {
    refused(-32003, "", "rate_operations_per_second=10");
    refused(
        -32003,
        NAME.getNameAsString() + "/" + PluginCluster.FAMILY,
        "rate_operations_per_second=10");
    refused(-32004, "nosuchtable", "rate_operations_per_second=10");
    refused(-32001, NAME.getNameAsString(), "hold");
  }

  private void refused(int code, String scope, String setting) {
    ProtocolClient.RefusedException refused =
        assertThrows(
            ProtocolClient.RefusedException.class, () -> client.set("requests", scope, setting));
    assertEquals(code, refused.code());
  }
}
