package dev.sluice.ycsb.ignite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.ycsb.PrepareStep;
import dev.sluice.ycsb.SettingException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

/** What is particular to Ignite; the rest is in {@link IgniteContractTest}. */
@Tag(IgniteServer.TAG)
class IgniteYcsbClientTest {
  private static final String TABLE = "usertable";
  private static IgniteServer server;
  private final List<IgniteYcsbClient> clients = new ArrayList<>();
  private IgniteYcsbClient client;

  @BeforeAll
  static void start() throws Exception {
    server = IgniteServer.start();
  }

  @AfterAll
  static void stop() throws Exception {
    server.close();
  }

  @BeforeEach
  void startEmpty() throws Exception {
    step("drop-table", Map.of());
    step("create-table", Map.of());
    client = client(Map.of());
  }

  @AfterEach
  void disconnect() throws Exception {
    for (IgniteYcsbClient each : clients) {
      each.cleanup();
    }
  }

  @Test
  void updateAndDeleteOfAMissingKeyAreNotFound() {
    assertEquals(Status.NOT_FOUND, client.update(TABLE, "none", value("v")));
    assertEquals(Status.NOT_FOUND, client.delete(TABLE, "none"));
    assertEquals(Status.NOT_FOUND, client.read(TABLE, "none", null, new HashMap<>()));
  }

  @Test
  void insertOfAnExistingKeyIsAnErrorAndChangesNothing() {
    assertEquals(Status.OK, client.insert(TABLE, "k", value("first")));
    assertEquals(Status.ERROR, client.insert(TABLE, "k", value("second")));
    assertEquals("first", read("k"));
  }

  @Test
  void upsertOverwritesAnExistingKey() throws Exception {
    IgniteYcsbClient upserting = client(Map.of("ignite.upsert", "true"));
    assertEquals(Status.OK, upserting.insert(TABLE, "k", value("first")));
    assertEquals(Status.OK, upserting.insert(TABLE, "k", value("second")));
    assertEquals("second", read("k"));
  }

  @Test
  void batchIsSentWhenItIsFullAndAtTheEnd() throws Exception {
    IgniteYcsbClient batching = client(Map.of("ignite.batchsize", "2"));
    assertEquals(Status.BATCHED_OK, batching.insert(TABLE, "a", value("1")));
    assertEquals(Status.NOT_FOUND, client.read(TABLE, "a", null, new HashMap<>()));
    assertEquals(Status.OK, batching.insert(TABLE, "b", value("2")));
    assertEquals("1", read("a"));
    assertEquals(Status.BATCHED_OK, batching.insert(TABLE, "c", value("3")));
    batching.cleanup();
    assertEquals("3", read("c"));
  }

  @Test
  void failedBatchIsReportedAtTheEnd() throws Exception {
    client.insert(TABLE, "a", value("v"));
    IgniteYcsbClient batching = client(Map.of("ignite.batchsize", "2"));
    assertEquals(Status.BATCHED_OK, batching.insert(TABLE, "b", value("v")));
    assertEquals(Status.ERROR, batching.insert(TABLE, "a", value("again")));
    DBException lost = assertThrows(DBException.class, batching::cleanup);
    assertTrue(lost.getMessage().contains("up to 2 inserts"), lost.getMessage());
  }

  @Test
  void threadsThatUpdateOneRecordWaitForOneAnother() throws Exception {
    client.insert(TABLE, "k", value("v"));
    Set<Status> statuses =
        Set.copyOf(
            IntStream.range(0, 200)
                .parallel()
                .mapToObj(i -> client.update(TABLE, "k", value("v" + i)))
                .toList());
    assertEquals(Set.of(Status.OK), statuses);
  }

  @Test
  void scanSeesAllThatWasWrittenBeforeItsClientBegan() throws Exception {
    for (int i = 0; i < 20; i++) {
      assertEquals(Status.OK, client.insert(TABLE, "k" + i, value("v")));
      // Another time-out gives it a connection of its own.
      IgniteYcsbClient other = client(Map.of("ignite.timeoutmilliseconds", "5000" + i));
      Vector<HashMap<String, ByteIterator>> rows = new Vector<>();
      assertEquals(Status.OK, other.scan(TABLE, "", 100, null, rows));
      assertEquals(i + 1, rows.size());
    }
  }

  @Test
  void missingTableIsAnError() {
    assertEquals(Status.ERROR, client.read("none", "k", null, new HashMap<>()));
    assertEquals(Status.ERROR, client.update("none", "k", value("v")));
    assertEquals(Status.ERROR, client.insert("none", "k", value("v")));
  }

  @Test
  void crashedServerIsUnavailableAndUsedAgainWhenItIsBack() throws Exception {
    assertEquals(Status.OK, client.insert(TABLE, "k", value("v")));
    server.crash();
    assertEquals(Status.SERVICE_UNAVAILABLE, client.read(TABLE, "k", null, new HashMap<>()));
    assertEquals(Status.SERVICE_UNAVAILABLE, client.update(TABLE, "k", value("w")));
    server.startAgain();
    assertEquals("v", read("k"));
    assertEquals(Status.OK, client.update(TABLE, "k", value("w")));
  }

  @Test
  void serverThatDoesNotAnswerIsUnavailable() throws Exception {
    IgniteYcsbClient impatient = client(Map.of("ignite.timeoutmilliseconds", "1000"));
    assertEquals(Status.OK, impatient.insert(TABLE, "k", value("v")));
    server.freeze(true);
    try {
      assertEquals(Status.SERVICE_UNAVAILABLE, impatient.update(TABLE, "k", value("w")));
      assertEquals(Status.SERVICE_UNAVAILABLE, impatient.read(TABLE, "k", null, new HashMap<>()));
    } finally {
      server.freeze(false);
    }
    assertEquals(Status.OK, client.read(TABLE, "k", null, new HashMap<>()));
  }

  @Test
  void unreachableClusterSaysWhereAndWhatToDo() {
    Properties properties = new Properties();
    properties.setProperty("ignite.addresses", "127.0.0.1:1");
    IgniteYcsbClient other = new IgniteYcsbClient();
    other.setProperties(properties);
    String message = assertThrows(DBException.class, other::init).getMessage();
    assertTrue(message.contains("127.0.0.1:1") && message.contains("check"), message);
  }

  @Test
  void tableIsMadeOnceAndDroppedTwice() throws Exception {
    Map<String, String> other = Map.of("table", "Other", "fieldcount", "3", "fieldnameprefix", "F");
    step("create-table", other);
    assertEquals(Status.OK, client.insert("Other", "k", Map.of("F2", text("v"))));
    assertTrue(refusal("create-table", other).contains("drop-table"));
    step("drop-table", other);
    step("drop-table", other);
  }

  @Test
  void keysOfGroupsAreFoundAgainInEveryWay() throws Exception {
    Map<String, String> other = Map.of("table", "other", "ignite.partitionshares", "zipfian");
    step("create-table", other);
    IgniteYcsbClient writer = client(other);
    for (int i = 0; i < 50; i++) {
      assertEquals(Status.OK, writer.insert("other", "k" + i, value("v" + i)));
    }
    // Another time-out gives it a connection of its own, and the groups are read anew.
    Map<String, String> again = new HashMap<>(other);
    again.put("ignite.timeoutmilliseconds", "50001");
    IgniteYcsbClient reader = client(again);
    for (int i = 0; i < 50; i++) {
      assertEquals(Status.OK, reader.update("other", "k" + i, value("w" + i)));
      assertEquals(Status.OK, reader.read("other", "k" + i, null, new HashMap<>()));
    }
    Vector<HashMap<String, ByteIterator>> rows = new Vector<>();
    assertEquals(Status.OK, reader.scan("other", "", 100, null, rows));
    assertEquals(50, rows.size());
    assertEquals(Set.of("field0"), rows.get(0).keySet());
    assertEquals(Status.OK, reader.delete("other", "k7"));
    assertEquals(Status.NOT_FOUND, writer.read("other", "k7", null, new HashMap<>()));
    step("drop-table", other);
  }

  @Test
  void aTableWithoutGroupsIsRefusedByWhoWantsThem() throws Exception {
    IgniteYcsbClient grouped = client(Map.of("ignite.partitionshares", "uniform"));
    String message =
        assertThrows(SettingException.class, () -> grouped.read(TABLE, "k", null, new HashMap<>()))
            .getMessage();
    assertTrue(message.contains("create-table"), message);
  }

  @Test
  void replicasAreAwaitedOnTheNodesThatThereAre() throws Exception {
    Map<String, String> other = Map.of("table", "other", "ignite.replicas", "3");
    step("create-table", other);
    step("await-replicas", other);
    step("drop-table", other);
    assertTrue(refusal("await-replicas", other).contains("create-table"));
  }

  @ParameterizedTest
  @CsvSource({
    "ignite.profile, none, ignite.profile has to be",
    "fieldcount, 0, from 1 up",
    "fieldnameprefix, 'a b', use ASCII letters",
    "table, 'a b', use ASCII letters",
  })
  void whatCannotBeCreatedIsNamedAndLeavesNothing(String name, String value, String why)
      throws Exception {
    Map<String, String> settings = new HashMap<>(Map.of("table", "other"));
    settings.put(name, value);
    String message = refusal("create-table", settings);
    assertTrue(message.contains(why), message);
    step("create-table", Map.of("table", "other"));
    step("drop-table", Map.of("table", "other"));
  }

  private IgniteYcsbClient client(Map<String, String> settings) throws DBException {
    IgniteYcsbClient made = new IgniteYcsbClient();
    made.setProperties(properties(settings));
    made.init();
    clients.add(made);
    return made;
  }

  private static Properties properties(Map<String, String> settings) {
    Properties properties = server.settings();
    properties.putAll(settings);
    return properties;
  }

  private static void step(String name, Map<String, String> settings) throws Exception {
    for (PrepareStep step : new IgniteBinding().prepareSteps()) {
      if (step.name().equals(name)) {
        step.action().run(properties(settings));
      }
    }
  }

  private static String refusal(String step, Map<String, String> settings) {
    return assertThrows(SettingException.class, () -> step(step, settings)).getMessage();
  }

  private String read(String key) {
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
