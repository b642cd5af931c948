package dev.sluice.ycsb.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.ycsb.PrepareStep;
import dev.sluice.ycsb.SettingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Vector;
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

/** What is particular to this store; the rest is in {@link PostgresContractTest}. */
class PostgresClientTest {
  private static final String TABLE = "usertable";
  private static PostgresServer server;
  private PostgresClient client;

  @BeforeAll
  static void start() throws Exception {
    server = PostgresServer.start();
  }

  @AfterAll
  static void stop() throws Exception {
    server.close();
  }

  @BeforeEach
  void startEmpty() throws Exception {
    prepare("drop-table");
    prepare("create-table");
    client = client(Map.of());
  }

  @AfterEach
  void disconnect() throws Exception {
    client.cleanup();
  }

  @Test
  void updateAndDeleteOfAMissingKeyAreNotFound() {
    assertEquals(Status.NOT_FOUND, client.update(TABLE, "none", value("v")));
    assertEquals(Status.NOT_FOUND, client.delete(TABLE, "none"));
  }

  @Test
  void insertOfAnExistingKeyIsAnErrorAndChangesNothing() {
    assertEquals(Status.OK, client.insert(TABLE, "k", value("first")));
    assertEquals(Status.ERROR, client.insert(TABLE, "k", value("second")));
    assertEquals("first", read("k"));
  }

  @Test
  void upsertOverwritesAnExistingKey() throws Exception {
    PostgresClient upserting = client(Map.of("postgres.upsert", "true"));
    assertEquals(Status.OK, upserting.insert(TABLE, "k", value("first")));
    assertEquals(Status.OK, upserting.insert(TABLE, "k", value("second")));
    upserting.cleanup();
    assertEquals("second", read("k"));
  }

  @Test
  void everyOperationIsCommittedByDefault() throws Exception {
    assertEquals(Status.OK, client.insert(TABLE, "k", value("v")));
    assertEquals("1", server.query("SELECT count(*) FROM usertable"));
  }

  @Test
  void batchIsCommittedWhenFullAndAtTheEnd() throws Exception {
    PostgresClient batching = client(Map.of("postgres.batchsize", "3"));
    assertEquals(Status.BATCHED_OK, batching.insert(TABLE, "a", value("v")));
    assertEquals(Status.BATCHED_OK, batching.insert(TABLE, "b", value("v")));
    assertEquals("0", server.query("SELECT count(*) FROM usertable"));
    assertEquals(Status.OK, batching.insert(TABLE, "c", value("v")));
    assertEquals("3", server.query("SELECT count(*) FROM usertable"));
    assertEquals(Status.BATCHED_OK, batching.insert(TABLE, "d", value("v")));
    batching.cleanup();
    assertEquals("4", server.query("SELECT count(*) FROM usertable"));
  }

  @Test
  void failedBatchIsReportedAtTheEnd() throws Exception {
    client.insert(TABLE, "a", value("v"));
    PostgresClient batching = client(Map.of("postgres.batchsize", "2"));
    assertEquals(Status.BATCHED_OK, batching.insert(TABLE, "b", value("v")));
    assertEquals(Status.ERROR, batching.insert(TABLE, "a", value("again")));
    DBException lost = assertThrows(DBException.class, batching::cleanup);
    assertTrue(lost.getMessage().contains("up to 2 inserts"), lost.getMessage());
  }

  @Test
  void failedBatchOfAnySizeLeavesNothing() throws Exception {
    client.insert(TABLE, "a", value("v"));
    int size = 600;
    PostgresClient batching = client(Map.of("postgres.batchsize", "" + size));
    for (int record = 1; record < size; record++) {
      assertEquals(Status.BATCHED_OK, batching.insert(TABLE, "k" + record, value("v")));
    }
    assertEquals(Status.ERROR, batching.insert(TABLE, "a", value("again")));
    assertEquals("1", server.query("SELECT count(*) FROM usertable"));
    // Not in the transaction of the batch any more.
    assertEquals(Status.OK, batching.update(TABLE, "a", value("w")));
    assertEquals("w", read("a"));
    assertThrows(DBException.class, batching::cleanup);
  }

  @Test
  void silentServerEndsTheOperationAndNotTheNext() throws Exception {
    client.insert(TABLE, "k", value("before"));
    // Long enough for what is not locked, also on a busy machine.
    PostgresClient impatient = client(Map.of("postgres.timeoutmilliseconds", "4000"));
    try (Connection holder = connectionWithTheTableLocked()) {
      assertEquals(Status.SERVICE_UNAVAILABLE, impatient.update(TABLE, "k", value("late")));
      assertFalse(holder.isClosed());
    }
    assertEquals(Status.OK, impatient.insert(TABLE, "new", value("after")));
    assertEquals("after", read("new"));
    impatient.cleanup();
  }

  @Test
  void stepsTakeLongerThanAnOperationMay() throws Exception {
    Properties properties = server.settings();
    properties.setProperty("postgres.timeoutmilliseconds", "1");
    Thread locking = lockTable(2.5);
    step("vacuum-analyze").run(properties);
    locking.join();
  }

  /** Its end unlocks the table. */
  private static Connection connectionWithTheTableLocked() throws SQLException {
    Connection connection =
        DriverManager.getConnection(server.url(), PostgresServer.USER, PostgresServer.PASSWORD);
    connection.setAutoCommit(false);
    try (Statement statement = connection.createStatement()) {
      statement.execute("LOCK TABLE usertable");
    }
    return connection;
  }

  /** Returns with the table locked; the thread unlocks it and ends. */
  private static Thread lockTable(double seconds) throws SQLException {
    Connection connection = connectionWithTheTableLocked();
    Thread thread =
        new Thread(
            () -> {
              try (connection;
                  Statement statement = connection.createStatement()) {
                statement.execute("SELECT pg_sleep(" + seconds + ")");
                connection.rollback();
              } catch (SQLException e) {
                throw new IllegalStateException(e);
              }
            });
    thread.start();
    return thread;
  }

  @Test
  void statementsArePreparedOnTheServer() throws Exception {
    server.execute(
        "CREATE OR REPLACE VIEW prepared AS SELECT 'count'::text AS ycsb_key,"
            + " count(*)::text AS field0 FROM pg_prepared_statements WHERE NOT from_sql"
            + " AND statement LIKE '%usertable%'");
    client.insert(TABLE, "k", value("v"));
    client.update(TABLE, "k", value("w"));
    read("k");
    client.scan(TABLE, "k", 1, null, new Vector<>());
    assertEquals(4, preparedStatements(client));

    PostgresClient unprepared = client(Map.of("postgres.preparethreshold", "0"));
    unprepared.update(TABLE, "k", value("v"));
    assertEquals(0, preparedStatements(unprepared));
    unprepared.cleanup();
  }

  @Test
  void crashFailsTheOperationAndTheNextOneConnectsAgain() throws Exception {
    client.insert(TABLE, "k", value("before"));
    server.crash();
    assertEquals(Status.SERVICE_UNAVAILABLE, client.update(TABLE, "k", value("lost")));
    assertEquals(Status.SERVICE_UNAVAILABLE, client.update(TABLE, "k", value("lost")));
    server.startAgain();
    assertEquals(Status.OK, client.insert(TABLE, "new", value("after")));
    assertEquals("before", read("k"));
    assertEquals("after", read("new"));
  }

  @Test
  void crashUnderABatchIsReportedAtTheEnd() throws Exception {
    PostgresClient batching = client(Map.of("postgres.batchsize", "9"));
    batching.insert(TABLE, "a", value("v"));
    server.crash();
    DBException lost = assertThrows(DBException.class, batching::cleanup);
    assertTrue(lost.getMessage().contains("up to 1 inserts"), lost.getMessage());
    server.startAgain();
  }

  @Test
  void refusedStatementLeavesTheConnectionUsable() {
    assertEquals(Status.ERROR, client.insert(TABLE, "k", Map.of("nocolumn", text("v"))));
    assertEquals(Status.ERROR, client.read("notable", "k", null, new HashMap<>()));
    assertEquals(Status.OK, client.insert(TABLE, "k", value("v")));
  }

  @Test
  void unsafeNamesNeverReachTheServer() throws Exception {
    for (String name :
        new String[] {"", "t;", "t\"", "1t", "t t", "tä", "public.t", "t".repeat(64)}) {
      assertThrows(
          SettingException.class, () -> client.read(name, "k", null, new HashMap<>()), name);
      assertThrows(
          SettingException.class, () -> client.update(TABLE, "k", Map.of(name, text("v"))), name);
      Properties properties = server.settings();
      properties.setProperty("table", name);
      assertThrows(SettingException.class, () -> step("create-table").run(properties), name);
    }
    assertEquals(Status.OK, client.insert(TABLE, "k", value("v")));
  }

  @Test
  void passfileLetsIn(@TempDir Path directory) throws Exception {
    Path passfile = directory.resolve("passfile");
    Files.writeString(passfile, server.passfileLine() + "\n");
    Files.setPosixFilePermissions(passfile, PosixFilePermissions.fromString("rw-------"));
    Properties properties = server.settings();
    properties.remove("postgres.password");
    properties.setProperty("postgres.passfile", passfile.toString());
    PostgresClient other = new PostgresClient();
    other.setProperties(properties);
    other.init();
    assertEquals(Status.OK, other.insert(TABLE, "k", value("v")));
    other.cleanup();
  }

  @Test
  void wrongPasswordSaysWhereAndWhatToDo() {
    Properties properties = server.settings();
    properties.setProperty("postgres.password", "wrong");
    PostgresClient other = new PostgresClient();
    other.setProperties(properties);
    String message = assertThrows(DBException.class, other::init).getMessage();
    assertTrue(message.contains(server.url()) && message.contains("check"), message);
  }

  @Test
  void tableHasTheFieldsAskedForAndIsMadeOnce() throws Exception {
    Properties properties = server.settings();
    properties.setProperty("table", "other");
    properties.setProperty("fieldcount", "3");
    properties.setProperty("fieldnameprefix", "f");
    step("create-table").run(properties);
    assertEquals(
        "ycsb_key,f0,f1,f2",
        server.query(
            "SELECT string_agg(column_name, ',' ORDER BY ordinal_position)"
                + " FROM information_schema.columns WHERE table_name = 'other'"));
    var twice = assertThrows(SettingException.class, () -> step("create-table").run(properties));
    assertTrue(twice.getMessage().contains("drop-table"), twice.getMessage());
    step("drop-table").run(properties);
    step("drop-table").run(properties);
  }

  @Test
  void vacuumAnalyzeSettlesTheTable() throws Exception {
    client.insert(TABLE, "k", value("v"));
    step("vacuum-analyze").run(server.settings());
    step("checkpoint").run(server.settings());
    assertEquals(
        "1", server.query("SELECT relallvisible FROM pg_class WHERE relname = 'usertable'"));
  }

  private static PostgresClient client(Map<String, String> settings) throws DBException {
    Properties properties = server.settings();
    properties.putAll(settings);
    PostgresClient client = new PostgresClient();
    client.setProperties(properties);
    client.init();
    return client;
  }

  /** Counted by the connection itself, through a view that takes the place of the table. */
  private static int preparedStatements(PostgresClient client) throws Exception {
    Map<String, ByteIterator> row = new HashMap<>();
    assertEquals(Status.OK, client.read("prepared", "count", null, row));
    return Integer.parseInt(row.get("field0").toString());
  }

  private static void prepare(String step) throws Exception {
    step(step).run(server.settings());
  }

  private static PrepareStep.Action step(String name) {
    return new PostgresBinding()
        .prepareSteps().stream()
            .filter(step -> step.name().equals(name))
            .findFirst()
            .orElseThrow()
            .action();
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
