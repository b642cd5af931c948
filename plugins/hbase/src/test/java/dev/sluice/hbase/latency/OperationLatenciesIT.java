package dev.sluice.hbase.latency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.hbase.PluginCluster;
import dev.sluice.local.protocol.ProtocolClient;
import java.io.IOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Requests of a real client to a region server, counted and timed. */
@ExtendWith(PluginCluster.Shared.class)
class OperationLatenciesIT {
  private static final TableName NAME = TableName.valueOf("timedrequests");
  private static final byte[] FAMILY = Bytes.toBytes(PluginCluster.FAMILY);
  private static final byte[] QUALIFIER = Bytes.toBytes("q");
  private static final int ROWS = 50;

  private final PluginCluster cluster;
  private final OperationLatencies latencies;
  private final Map<Operation, Long> before = new EnumMap<>(Operation.class);
  private Table table;

  OperationLatenciesIT(PluginCluster cluster) {
    this.cluster = cluster;
    latencies = OperationLatencies.find(cluster.server()).orElseThrow();
  }

  @BeforeEach
  void open() throws Exception {
    if (!cluster.admin().tableExists(NAME)) {
      cluster.create(NAME.getNameAsString());
    }
    table = cluster.utility().getConnection().getTable(NAME);
    long putsBefore = total(Operation.PUT);
    for (int row = 0; row < ROWS; row++) {
      table.put(put(row));
    }
    cluster.await(() -> total(Operation.PUT) >= putsBefore + ROWS);
    for (Operation operation : Operation.values()) {
      before.put(operation, latencies.requestTotal(operation));
    }
  }

  @AfterEach
  void close() throws IOException {
    table.close();
  }

  private static Put put(int row) {
    return new Put(Bytes.toBytes(row)).addColumn(FAMILY, QUALIFIER, Bytes.toBytes((long) row));
  }

  private static Get get(int row) {
    return new Get(Bytes.toBytes(row));
  }

  private long total(Operation operation) {
    latencies.endInterval();
    return latencies.requestTotal(operation);
  }

  /** How often an operation has been counted since the test began. */
  private long count(Operation operation) {
    return total(operation) - before.get(operation);
  }

  /** A client may have its answer before the handler has counted it. */
  private void assertCounted(long expected, Operation operation) throws Exception {
    cluster.await(() -> count(operation) >= expected);
    assertEquals(expected, count(operation));
  }

  @Test
  void eachOperationIsCountedOnce() throws Exception {
    for (int row = 0; row < 7; row++) {
      table.get(get(row));
    }
    table.put(put(1));
    table.delete(new Delete(Bytes.toBytes(49)));
    table.increment(new Increment(Bytes.toBytes(1)).addColumn(FAMILY, QUALIFIER, 1));
    table.append(new Append(Bytes.toBytes(2)).addColumn(FAMILY, QUALIFIER, Bytes.toBytes("x")));
    table.get(List.of(get(1), get(2)));
    table.batch(List.of(get(1), put(3)), new Object[2]);

    assertCounted(7, Operation.GET);
    assertCounted(1, Operation.PUT);
    assertCounted(1, Operation.DELETE);
    assertCounted(1, Operation.INCREMENT);
    assertCounted(1, Operation.APPEND);
    assertCounted(1, Operation.BATCH_READ);
    assertCounted(1, Operation.BATCH_WRITE);
  }

  @Test
  void eachCallOfAScanThatBringsRowsIsCounted() throws Exception {
    int rows = 0;
    try (ResultScanner scanner = table.getScanner(new Scan().setCaching(10))) {
      for (Result ignored : scanner) {
        rows++;
      }
    }
    assertEquals(ROWS, rows);
    cluster.await(() -> count(Operation.SCAN_NEXT) >= ROWS / 10);
    long calls = count(Operation.SCAN_NEXT);
    assertTrue(calls <= ROWS / 10 + 2, calls + " calls");
  }

  @Test
  void aLatencyIsNoLongerThanTheTimeThatHasPassed() throws Exception {
    long start = latencies.now();
    table.get(get(1));
    assertCounted(1, Operation.GET);
    double passedSeconds = (latencies.now() - start) / 1e9;
    double longestSeconds =
        latencies.intervals().stream()
            .filter(interval -> interval.endNanos() - start > 0)
            .mapToDouble(interval -> interval.operations().get(Operation.GET).maxSeconds())
            .max()
            .orElseThrow();
    assertTrue(longestSeconds > 0);
    assertTrue(longestSeconds <= 1.01 * passedSeconds, longestSeconds + " " + passedSeconds);
  }

  @Test
  void aRequestThatFailsIsAnErrorWithoutLatency() throws Exception {
    long errorsBefore = latencies.errorTotal(Operation.GET);
    Get wrong = get(1).addFamily(Bytes.toBytes("missing"));
    assertThrows(IOException.class, () -> table.get(wrong));
    cluster.await(
        () -> {
          latencies.endInterval();
          return latencies.errorTotal(Operation.GET) > errorsBefore;
        });
    assertEquals(0, count(Operation.GET));
  }

  @Test
  void aSnapshotHasTheIntervals() throws Exception {
    table.get(get(1));
    assertCounted(1, Operation.GET);
    try (ProtocolClient client = cluster.client()) {
      List<?> shown = (List<?>) client.snapshot().get("latencies");
      assertTrue(
          shown.stream()
              .map(each -> (Map<?, ?>) each)
              .anyMatch(
                  each -> each.get("class").equals("read") && (Double) each.get("count") > 0));
      assertTrue(client.figure("requests_get_total") >= 1);
    }
  }
}
