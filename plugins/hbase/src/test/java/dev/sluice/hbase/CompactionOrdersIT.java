package dev.sluice.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.protocol.ProtocolClient;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Orders on the compactions of a region server that serves. */
@ExtendWith(PluginCluster.Shared.class)
class CompactionOrdersIT {
  private static final String KIND = "compaction";
  private static final int ROWS = 100;

  private final PluginCluster cluster;
  private ProtocolClient client;

  CompactionOrdersIT(PluginCluster cluster) {
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

  private Map<?, ?> only(String table, String state) throws Exception {
    List<Map<?, ?>> tasks = client.tasks(KIND, table, state);
    assertEquals(1, tasks.size(), tasks::toString);
    return tasks.get(0);
  }

  private static double number(Map<?, ?> task, String name) {
    return (Double) task.get(name);
  }

  @Test
  void startCompactsToOneFile() throws Exception {
    TableName table = cluster.createWithTwoFiles("start", ROWS);
    long before = cluster.contentHash(table);
    client.start(KIND, "start");
    cluster.await(() -> cluster.fileCount(table) == 1);
    assertEquals(before, cluster.contentHash(table));
  }

  @Test
  void whereThereIsNoFileThereIsNothingToStart() throws Exception {
    cluster.create("empty");
    ProtocolClient.RefusedException refused =
        assertThrows(ProtocolClient.RefusedException.class, () -> client.start(KIND, "empty"));
    assertEquals(-32003, refused.code());
  }

  @Test
  void whatIsCompactedAlreadyIsNotStartedAgain() throws Exception {
    TableName table = cluster.createWithTwoFiles("again", ROWS);
    client.set(KIND, "again", "hold");
    client.start(KIND, "again");
    ProtocolClient.RefusedException refused =
        assertThrows(ProtocolClient.RefusedException.class, () -> client.start(KIND, "again"));
    assertEquals(-32003, refused.code());
    client.clear();
    cluster.await(() -> cluster.fileCount(table) == 1);
  }

  @Test
  void aMinorOneIsRefusedWhereThePolicySelectsNothing() throws Exception {
    TableName table = cluster.createWithTwoFiles("toofew", ROWS);
    ProtocolClient.RefusedException refused =
        assertThrows(
            ProtocolClient.RefusedException.class, () -> client.start(KIND, "toofew", "minor"));
    assertEquals(-32003, refused.code());
    client.start(KIND, "toofew", "major");
    cluster.await(() -> cluster.fileCount(table) == 1);
  }

  @Test
  void aHeldCompactionDoesNothingAndLosesNothing() throws Exception {
    TableName table = cluster.createWithTwoFiles("hold", ROWS);
    long before = cluster.contentHash(table);
    client.set(KIND, "hold/f", "hold");
    client.start(KIND, "hold");
    cluster.await(() -> !client.tasks(KIND, "hold", "held").isEmpty());
    Map<?, ?> held = only("hold", "held");
    assertEquals("major", held.get("phase"));
    assertTrue(number(held, "bytes_total") > 2 * ROWS * PluginCluster.VALUE_BYTES);
    // Requests are served meanwhile, and the compaction does not move.
    assertEquals(before, cluster.contentHash(table));
    Map<?, ?> later = only("hold", "held");
    assertEquals(held.get("bytes_done"), later.get("bytes_done"));
    assertTrue(number(later, "throttled_seconds") >= number(held, "throttled_seconds"));
    client.clear();
    cluster.await(() -> cluster.fileCount(table) == 1);
    assertEquals(before, cluster.contentHash(table));
  }

  @Test
  void aSmallCompactionIsHeldToo() throws Exception {
    TableName table = cluster.createWithTwoFiles("small", 1);
    client.set(KIND, "small", "hold");
    client.start(KIND, "small");
    cluster.await(() -> !client.tasks(KIND, "small", "held").isEmpty());
    client.clear();
    cluster.await(() -> cluster.fileCount(table) == 1);
  }

  @Test
  void aHoldThatIsNotRenewedEndsByItself() throws Exception {
    TableName table = cluster.createWithTwoFiles("expiry", ROWS);
    client.set(KIND, "", "hold", 1);
    client.start(KIND, "expiry");
    cluster.await(() -> cluster.fileCount(table) == 1);
    assertEquals(List.of(), client.leases());
  }

  @Test
  void aRateIsNeverExceeded() throws Exception {
    double rate = 200_000;
    // It would run for half a minute: whoever looks late sees it nevertheless.
    TableName table = cluster.createWithTwoFiles("rate", 8 * ROWS);
    client.set(KIND, "rate", "rate_bytes_per_second=" + rate);
    client.start(KIND, "rate");
    cluster.await(
        () -> {
          for (Map<?, ?> task : client.tasks(KIND, "rate", "running")) {
            // What it has read at its start and two steps are ahead of the rate.
            double allowed = rate * (number(task, "age_seconds") + 0.05) + 4 * (64 << 10);
            double done = number(task, "bytes_done");
            assertTrue(done <= allowed, done + " bytes, " + allowed + " are allowed");
            if (done > 3 * rate) {
              return true;
            }
          }
          return false;
        });
    client.clear();
    client.set(KIND, "", "full");
    cluster.await(() -> cluster.fileCount(table) == 1);
  }

  @Test
  void whatIsReadAndDroppedIsCharged() throws Exception {
    TableName table = cluster.create("dropped");
    cluster.addFile(table, 0, ROWS);
    cluster.addDeletions(table, 0, ROWS);
    client.set(KIND, "dropped", "hold");
    client.start(KIND, "dropped");
    // Nothing is left to write: without its reads the compaction would never be held.
    cluster.await(() -> !client.tasks(KIND, "dropped", "held").isEmpty());
    client.clear();
    cluster.await(() -> cluster.fileCount(table) <= 1);
    assertEquals(1, cluster.contentHash(table));
  }

  @Test
  void olderVersionsThatArePassedOverAreCharged() throws Exception {
    TableName table = TableName.valueOf("versions");
    cluster
        .admin()
        .createTable(
            TableDescriptorBuilder.newBuilder(table)
                .setColumnFamily(ColumnFamilyDescriptorBuilder.of(PluginCluster.FAMILY))
                .setCoprocessor(StopsNearTheEnd.class.getName())
                .build());
    for (int version = 0; version < 3; version++) {
      cluster.addFile(table, 0, StopsNearTheEnd.OF_ROWS);
    }
    client.start(KIND, "versions");
    try {
      // A third is written in the end.
      cluster.await(
          () ->
              client.tasks(KIND, "versions", "running").stream()
                  .anyMatch(
                      task -> number(task, "bytes_done") > 0.6 * number(task, "bytes_total")));
    } finally {
      StopsNearTheEnd.GOES_ON.countDown();
    }
    cluster.await(() -> cluster.fileCount(table) == 1);
  }

  @Test
  void ordersSurviveAnotherConfiguration() throws Exception {
    TableName table = cluster.createWithTwoFiles("config", ROWS);
    client.set(KIND, "config", "hold");
    client.start(KIND, "config");
    cluster.await(() -> !client.tasks(KIND, "config", "held").isEmpty());
    cluster.admin().updateConfiguration(cluster.server().getServerName());
    only("config", "held");
    client.set(KIND, "config", "full");
    cluster.await(() -> cluster.fileCount(table) == 1);
  }

  @Test
  void debtIsShownByFamily() throws Exception {
    cluster.createWithTwoFiles("debt", ROWS);
    Map<?, ?> debt = of("debt/f", debts());
    assertEquals(1.0, debt.get("files"));
    assertTrue(number(debt, "bytes") > ROWS * PluginCluster.VALUE_BYTES);
    assertTrue(number(debt, "limit_bytes") > number(debt, "trigger_bytes"));
    assertTrue(number(debt, "trigger_bytes") > number(debt, "bytes"));
  }

  private List<Map<?, ?>> debts() throws Exception {
    return ((List<?>) client.snapshot().get("debts"))
        .stream()
            .<Map<?, ?>>map(each -> (Map<?, ?>) each)
            .filter(each -> KIND.equals(each.get("kind")))
            .toList();
  }

  private static Map<?, ?> of(String scope, List<Map<?, ?>> debts) {
    return debts.stream().filter(each -> scope.equals(each.get("scope"))).findFirst().orElseThrow();
  }

  @Test
  void theDebtOfAllOfTheServerIsTheSum() throws Exception {
    cluster.createWithTwoFiles("debtsum", ROWS);
    List<Map<?, ?>> debts = debts();
    assertEquals(1.0, of("debtsum/f", debts).get("files"));
    // A snapshot that has no room for all keeps the first.
    Map<?, ?> all = debts.get(0);
    assertEquals("", all.get("scope"));
    for (String name : List.of("bytes", "trigger_bytes", "limit_bytes", "files")) {
      double families =
          debts.stream().filter(each -> each != all).mapToDouble(each -> number(each, name)).sum();
      assertEquals(families, number(all, name), name);
    }
  }

  @Test
  void aHoldNeverFillsAStoreUpToItsBlockingCount() throws Exception {
    double endsBefore = client.figure("compaction_order_ends_total");
    TableName table = cluster.create("blocking");
    client.set(KIND, "", "hold");
    for (int file = 0; file < PluginCluster.BLOCKING_FILES - 1; file++) {
      cluster.addFileByRequest(table, file * ROWS, ROWS);
    }
    cluster.await(() -> client.figure("compaction_order_ends_total") > endsBefore);
    cluster.await(() -> cluster.fileCount(table) < PluginCluster.BLOCKING_FILES - 2);
    assertEquals(List.of(), client.leases());
    cluster.await(() -> client.takesOrders(KIND));
  }
}
