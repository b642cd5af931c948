package dev.sluice.ycsb.cassandra;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import dev.sluice.client.cassandra.LatencyTracker;
import dev.sluice.ycsb.PrepareStep;
import dev.sluice.ycsb.SettingException;
import dev.sluice.ycsb.TakesReports;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

/** What is particular to Cassandra; the rest is in {@link CassandraContractTest}. */
@Tag(CassandraServer.TAG)
class CassandraYcsbClientTest {
  private static final String TABLE = "usertable";
  private static final String TIMEOUT = "cassandra.timeoutmilliseconds";
  private static CassandraServer server;
  private final List<CassandraYcsbClient> clients = new ArrayList<>();
  private CassandraYcsbClient client;

  @BeforeAll
  static void start() throws Exception {
    server = CassandraServer.start();
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
  void disconnect() {
    clients.forEach(CassandraYcsbClient::cleanup);
  }

  /** The driver makes what reports by its configuration alone, as for an application. */
  @Test
  void aTrackerThatTheDriverMakesReportsItsRequests(@TempDir Path directory) throws Exception {
    assertEquals(Status.OK, client.insert(TABLE, "k", value("v")));
    String table = "ycsb." + TABLE;
    String select = "SELECT * FROM " + table + " WHERE ycsb_key = ";
    String told;
    try (TakesReports agent = new TakesReports(directory.resolve("agent.sock"))) {
      System.setProperty(LatencyTracker.SOCKET_PROPERTY, agent.socket().toString());
      try (CqlSession session = trackedSession()) {
        assertEquals(1, session.execute(select + "'k'").all().size());
        assertEquals(1, session.execute(session.prepare(select + "?").bind("k")).all().size());
        session.execute(session.prepare("DELETE FROM " + table + " WHERE ycsb_key = ?").bind("k"));
        assertThrows(
            InvalidQueryException.class,
            () -> session.execute("UPDATE " + table + " SET none = 1 WHERE ycsb_key = 'k'"));
      } finally {
        System.clearProperty(LatencyTracker.SOCKET_PROPERTY);
      }
      told = agent.told();
    }
    assertEquals(
        Map.of("read " + table, "2 0", "write " + table, "1 1"), TakesReports.requests(told));
  }

  private static CqlSession trackedSession() {
    CassandraSettings settings = CassandraSettings.of(server.settings());
    String address = settings.addresses().get(0);
    int colon = address.lastIndexOf(':');
    return CqlSession.builder()
        .withConfigLoader(
            DriverConfigLoader.programmaticBuilder()
                .withStringList(
                    DefaultDriverOption.REQUEST_TRACKER_CLASSES,
                    List.of(LatencyTracker.class.getName()))
                .build())
        .addContactPoint(
            new InetSocketAddress(
                address.substring(0, colon), Integer.parseInt(address.substring(colon + 1))))
        .withLocalDatacenter(settings.datacenter())
        .build();
  }

  @Test
  void writesDoNotLookWhetherTheRecordIsThere() {
    assertEquals(Status.OK, client.delete(TABLE, "k"));
    assertEquals(Status.NOT_FOUND, client.read(TABLE, "k", null, new HashMap<>()));
    assertEquals(Status.OK, client.update(TABLE, "k", value("made by an update")));
    assertEquals("made by an update", read("k"));
    assertEquals(Status.OK, client.insert(TABLE, "k", value("overwritten")));
    assertEquals("overwritten", read("k"));
  }

  @Test
  void anExistingTableIsNotMadeAgain() {
    String message =
        assertThrows(SettingException.class, () -> step("create-table", Map.of())).getMessage();
    assertTrue(message.contains("drop-table"), message);
  }

  @Test
  void aWrongDatacenterIsNamedWithThoseThatThereAre() {
    Map<String, String> elsewhere = Map.of("cassandra.datacenter", "elsewhere");
    String message = assertThrows(SettingException.class, () -> client(elsewhere)).getMessage();
    assertTrue(message.contains("cassandra.datacenter=elsewhere"), message);
    assertTrue(message.contains("[datacenter1]"), message);
  }

  @Test
  void aLevelThatTooFewReplicasCanGiveIsUnavailable() throws Exception {
    CassandraYcsbClient wanting = client(Map.of("cassandra.writeconsistency", "THREE"));
    assertEquals(Status.SERVICE_UNAVAILABLE, wanting.insert(TABLE, "k", value("v")));
  }

  @Test
  void missingTableIsAnError() {
    assertEquals(Status.ERROR, client.read("none", "k", null, new HashMap<>()));
    assertEquals(Status.ERROR, client.insert("none", "k", value("v")));
  }

  @Test
  void crashedServerIsUnavailableAndUsedAgainWhenItIsBack() throws Exception {
    assertEquals(Status.OK, client.insert(TABLE, "k", value("v")));
    server.crash();
    assertEquals(Status.SERVICE_UNAVAILABLE, client.read(TABLE, "k", null, new HashMap<>()));
    assertEquals(Status.SERVICE_UNAVAILABLE, client.update(TABLE, "k", value("w")));
    server.startAgain();
    // The driver tries again by itself, a few seconds later at most.
    CassandraYcsbClient other = client(Map.of(TIMEOUT, "30000"));
    assertEquals("v", read(other, "k"));
  }

  @Test
  void serverThatDoesNotAnswerIsUnavailable() throws Exception {
    CassandraYcsbClient impatient = client(Map.of(TIMEOUT, "1000"));
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

  private static void step(String name, Map<String, String> more) throws Exception {
    Properties properties = server.settings();
    properties.putAll(more);
    PrepareStep found =
        new CassandraBinding()
            .prepareSteps().stream()
                .filter(each -> each.name().equals(name))
                .findFirst()
                .orElseThrow();
    found.action().run(properties);
  }

  private CassandraYcsbClient client(Map<String, String> more) throws DBException {
    CassandraYcsbClient made = new CassandraYcsbClient();
    Properties properties = server.settings();
    properties.putAll(more);
    made.setProperties(properties);
    made.init();
    clients.add(made);
    return made;
  }

  private String read(String key) {
    return read(client, key);
  }

  private static String read(CassandraYcsbClient from, String key) {
    Map<String, ByteIterator> result = new HashMap<>();
    assertEquals(Status.OK, from.read(TABLE, key, null, result));
    return result.get("field0").toString();
  }

  private static Map<String, ByteIterator> value(String text) {
    return Map.of("field0", new StringByteIterator(text));
  }
}
