package dev.sluice.ycsb.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.client.LatencyReporter;
import dev.sluice.client.hbase.MeasuredConnection;
import dev.sluice.ycsb.PrepareStep;
import dev.sluice.ycsb.SettingException;
import dev.sluice.ycsb.TakesReports;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.stream.IntStream;
import org.apache.hadoop.hbase.RegionMetrics;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.AsyncAdmin;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

/** What is particular to this store; the rest is in {@link HBaseContractTest}. */
class HBaseClientTest {
  private static final String TABLE = "usertable";
  private static final TableName TABLE_NAME = TableName.valueOf(TABLE);
  private static final String TWO_FAMILIES = "hot:field0,cold";
  private static HBaseServer server;
  private final List<HBaseClient> clients = new ArrayList<>();
  private HBaseClient client;

  @BeforeAll
  static void start() throws Exception {
    server = HBaseServer.start();
  }

  @AfterAll
  static void stop() throws Exception {
    server.close();
  }

  @BeforeEach
  void startEmpty() throws Exception {
    makeTable(Map.of());
    client = client(Map.of());
  }

  @AfterEach
  void disconnect() throws Exception {
    for (HBaseClient each : clients) {
      each.cleanup();
    }
  }

  /** Both of HBase's clients, as an application would use them. */
  @Test
  void aConnectionThatIsMeasuredReportsWhatIsAskedOfItsTables(@TempDir Path directory)
      throws Exception {
    HBaseSettings settings = HBaseSettings.of(server.settings());
    byte[] row = "k".getBytes(StandardCharsets.UTF_8);
    byte[] family = "f".getBytes(StandardCharsets.UTF_8);
    String told;
    try (TakesReports agent = new TakesReports(directory.resolve("agent.sock"))) {
      try (LatencyReporter reporter = LatencyReporter.start(agent.socket(), "hbase");
          AsyncConnection connection = MeasuredConnection.of(Cluster.connect(settings), reporter);
          Connection blocking =
              MeasuredConnection.of(
                  ConnectionFactory.createConnection(settings.configuration()), reporter)) {
        AsyncTable<?> table = connection.getTable(TABLE_NAME);
        Cluster.await(table.put(new Put(row).addColumn(family, row, row)));
        assertEquals(1, Cluster.await(table.scanAll(new Scan().addFamily(family))).size());
        assertEquals(2, Cluster.await(table.getAll(List.of(new Get(row), new Get(row)))).size());
        Get unknown = new Get(row).addFamily("none".getBytes(StandardCharsets.UTF_8));
        assertThrows(
            IOException.class,
            () -> Cluster.await(connection.getTableBuilder(TABLE_NAME).build().get(unknown)));
        try (Table same = blocking.getTable(TABLE_NAME)) {
          assertTrue(same.exists(new Get(row).addFamily(family)));
          same.delete(new Delete(row));
        }
      }
      told = agent.told();
    }
    // The two rows that were asked for at once are one request.
    assertEquals(
        Map.of(
            "read usertable", "1 0",
            "read usertable/f", "2 0",
            "read usertable/none", "0 1",
            "write usertable", "1 0",
            "write usertable/f", "1 0"),
        TakesReports.requests(told));
  }

  @Test
  void writesDoNotAskWhetherTheKeyIsThere() {
    assertEquals(Status.OK, client.update(TABLE, "k", value("first")));
    assertEquals(Status.OK, client.insert(TABLE, "k", value("second")));
    assertEquals("second", read(client, "k"));
    assertEquals(Status.OK, client.delete(TABLE, "none"));
  }

  @Test
  void fieldsAreInTheirFamilies() throws Exception {
    makeTable(Map.of("hbase.families", TWO_FAMILIES));
    HBaseClient two = client(Map.of("hbase.families", TWO_FAMILIES));
    two.insert(TABLE, "k", Map.of("field0", text("h"), "field1", text("c")));
    Result stored =
        with(connection -> connection.getTable(TABLE_NAME).get(new Get("k".getBytes())).join());
    assertEquals("h", new String(stored.getValue("hot".getBytes(), "field0".getBytes())));
    assertEquals("c", new String(stored.getValue("cold".getBytes(), "field1".getBytes())));
    assertEquals(2, stored.size());
    two.delete(TABLE, "k");
    assertEquals(Status.NOT_FOUND, two.read(TABLE, "k", null, new HashMap<>()));
  }

  @Test
  void readOfAllFieldsCanBeOfSomeFamilies() throws Exception {
    makeTable(Map.of("hbase.families", TWO_FAMILIES));
    HBaseClient hot = client(Map.of("hbase.families", TWO_FAMILIES, "hbase.readfamilies", "hot"));
    hot.insert(TABLE, "k", Map.of("field0", text("h"), "field1", text("c")));
    Map<String, ByteIterator> row = new HashMap<>();
    assertEquals(Status.OK, hot.read(TABLE, "k", null, row));
    assertEquals(Set.of("field0"), row.keySet());
    Vector<HashMap<String, ByteIterator>> rows = new Vector<>();
    assertEquals(Status.OK, hot.scan(TABLE, "k", 5, null, rows));
    assertEquals(Set.of("field0"), rows.get(0).keySet());
  }

  @Test
  void hashedInsertsAreSpreadEvenlyOverTheRegions() throws Exception {
    int regions = 4;
    int records = 400;
    makeTable(Map.of("hbase.regions", "" + regions, "insertorder", "hashed"));
    HBaseClient batching = client(Map.of("hbase.batchsize", "50"));
    for (int record = 0; record < records; record++) {
      batching.insert(TABLE, SplitKeys.key(record, false, 1), value("v"));
    }
    assertEquals(regions, regions().size());
    // One write request per batch or record: how many of them is HBase's; where they go is ours.
    List<Long> requests = regions().stream().map(RegionMetrics::getWriteRequestCount).toList();
    assertEquals(records, requests.stream().mapToLong(Long::longValue).sum());
    for (long count : requests) {
      assertEquals((double) records / regions, count, 40, requests.toString());
    }
  }

  @Test
  void splitsCanBeNamed() throws Exception {
    makeTable(Map.of("hbase.splitkeys", "user3, user6"));
    assertEquals(3, regions().size());
    Properties both = properties(Map.of("hbase.splitkeys", "a", "hbase.regions", "2"));
    var refused = assertThrows(SettingException.class, () -> step("create-table").run(both));
    assertTrue(refused.getMessage().contains("either"), refused.getMessage());
  }

  @Test
  void scanInSmallCallsIsTheSameScan() throws Exception {
    for (int i = 10; i < 40; i++) {
      client.insert(TABLE, "k" + i, value("v" + i));
    }
    HBaseClient small = client(Map.of("hbase.scancaching", "4", "hbase.scancacheblocks", "false"));
    Vector<HashMap<String, ByteIterator>> rows = new Vector<>();
    assertEquals(Status.OK, small.scan(TABLE, "k12", 21, null, rows));
    assertEquals(
        IntStream.range(12, 33).mapToObj(i -> "v" + i).toList(),
        rows.stream().map(row -> row.get("field0").toString()).toList());
  }

  @Test
  void batchIsSentWhenFullAndAtTheEnd() throws Exception {
    HBaseClient batching = client(Map.of("hbase.batchsize", "3"));
    assertEquals(Status.BATCHED_OK, batching.insert(TABLE, "a", value("v")));
    assertEquals(Status.BATCHED_OK, batching.insert(TABLE, "b", value("v")));
    assertEquals(Status.NOT_FOUND, client.read(TABLE, "a", null, new HashMap<>()));
    assertEquals(Status.OK, batching.insert(TABLE, "c", value("v")));
    assertEquals("v", read(client, "a"));
    assertEquals(Status.BATCHED_OK, batching.insert(TABLE, "d", value("v")));
    batching.cleanup();
    assertEquals("v", read(client, "d"));
  }

  @Test
  void failedBatchIsReportedAtTheEnd() throws Exception {
    HBaseClient batching = client(Map.of("hbase.batchsize", "2"));
    clients.remove(batching);
    assertEquals(Status.BATCHED_OK, batching.insert("notable", "a", value("v")));
    assertEquals(Status.ERROR, batching.insert("notable", "b", value("v")));
    DBException lost = assertThrows(DBException.class, batching::cleanup);
    assertTrue(lost.getMessage().contains("up to 2 inserts"), lost.getMessage());
  }

  @Test
  void refusedOperationLeavesTheClientUsable() throws Exception {
    assertEquals(Status.ERROR, client.read("notable", "k", null, new HashMap<>()));
    HBaseClient other = client(Map.of("hbase.families", "other"));
    assertEquals(Status.ERROR, other.insert(TABLE, "k", value("v")));
    assertEquals(Status.BAD_REQUEST, client.insert(TABLE, "", value("v")));
    assertEquals(Status.BAD_REQUEST, client.insert(TABLE, "k".repeat(40_000), value("v")));
    assertEquals(Status.OK, client.insert(TABLE, "k", value("v")));
    assertThrows(SettingException.class, () -> client.read("a b", "k", null, new HashMap<>()));
  }

  @Test
  void crashFailsTheOperationAndLosesOnlyWhatWasNotLogged() throws Exception {
    HBaseClient unlogged = client(Map.of("hbase.durability", "skip_wal"));
    HBaseClient logged = client(Map.of("hbase.durability", "sync_wal"));
    HBaseClient hasty = client(Map.of("hbase.timeoutmilliseconds", "2000"));
    assertEquals(Status.OK, unlogged.insert(TABLE, "unlogged", value("v")));
    assertEquals(Status.OK, logged.insert(TABLE, "logged", value("v")));
    assertEquals("v", read(client, "unlogged"));
    server.crash();
    assertEquals(Status.SERVICE_UNAVAILABLE, hasty.update(TABLE, "k", value("lost")));
    assertEquals(Status.SERVICE_UNAVAILABLE, hasty.update(TABLE, "k", value("lost")));
    server.startAgain();
    assertEquals(Status.OK, client.insert(TABLE, "new", value("after")));
    assertEquals("v", read(client, "logged"));
    assertEquals(Status.NOT_FOUND, client.read(TABLE, "unlogged", null, new HashMap<>()));
  }

  @Test
  void unreachableClusterSaysWhereAndWhatToDo() throws Exception {
    Properties properties =
        properties(
            Map.of("hbase.zookeeper.quorum", "127.0.0.1:1", "hbase.timeoutmilliseconds", "500"));
    HBaseClient other = new HBaseClient();
    other.setProperties(properties);
    String message = assertThrows(DBException.class, other::init).getMessage();
    assertTrue(message.contains("127.0.0.1:1") && message.contains("check"), message);
    assertThrows(SettingException.class, () -> step("create-table").run(properties));
  }

  @Test
  void tableIsMadeOnceAndDroppedOnce() throws Exception {
    var twice =
        assertThrows(SettingException.class, () -> step("create-table").run(server.settings()));
    assertTrue(twice.getMessage().contains("drop-table"), twice.getMessage());
    step("drop-table").run(server.settings());
    step("drop-table").run(server.settings());
    Properties unsafe = properties(Map.of("table", "t;"));
    assertThrows(SettingException.class, () -> step("create-table").run(unsafe));
  }

  @Test
  void majorCompactionLeavesOneFileOfWhatWasFlushed() throws Exception {
    flushThreeFiles();
    step("major-compact").run(server.settings());
    assertEquals(1, regions().get(0).getStoreFileCount());
    assertEquals("v", read(client, "k0"));
  }

  @Test
  void majorCompactionThatIsStartedGoesOnByItself() throws Exception {
    flushThreeFiles();
    step("start-major-compact").run(server.settings());
    assertTimeoutPreemptively(
        Duration.ofMinutes(10),
        () -> {
          while (regions().get(0).getStoreFileCount() != 1) {
            Thread.onSpinWait();
          }
        });
  }

  private void flushThreeFiles() throws Exception {
    for (int file = 0; file < 3; file++) {
      client.insert(TABLE, "k" + file, value("v"));
      step("flush").run(server.settings());
    }
    assertEquals(3, regions().get(0).getStoreFileCount());
  }

  private interface Question<T> {
    T ask(AsyncConnection connection) throws Exception;
  }

  private static <T> T with(Question<T> question) throws Exception {
    try (AsyncConnection connection = Cluster.connect(HBaseSettings.of(server.settings()))) {
      return question.ask(connection);
    }
  }

  /** As the region server itself sees them now. */
  private static List<RegionMetrics> regions() throws Exception {
    return with(
        connection -> {
          AsyncAdmin admin = connection.getAdmin();
          ServerName only = admin.getRegionServers().join().iterator().next();
          return admin.getRegionMetrics(only, TABLE_NAME).join();
        });
  }

  private static void makeTable(Map<String, String> settings) throws Exception {
    step("drop-table").run(server.settings());
    step("create-table").run(properties(settings));
  }

  private static Properties properties(Map<String, String> settings) {
    Properties properties = server.settings();
    properties.putAll(settings);
    return properties;
  }

  private HBaseClient client(Map<String, String> settings) throws DBException {
    HBaseClient made = new HBaseClient();
    made.setProperties(properties(settings));
    made.init();
    clients.add(made);
    return made;
  }

  private static PrepareStep.Action step(String name) {
    return new HBaseBinding()
        .prepareSteps().stream()
            .filter(step -> step.name().equals(name))
            .findFirst()
            .orElseThrow()
            .action();
  }

  private static String read(HBaseClient client, String key) {
    Map<String, ByteIterator> row = new HashMap<>();
    assertEquals(Status.OK, client.read(TABLE, key, null, row));
    return row.get("field0").toString();
  }

  private static Map<String, ByteIterator> value(String value) {
    return Map.of("field0", text(value));
  }

  private static ByteIterator text(String value) {
    return new StringByteIterator(value);
  }
}
