package dev.sluice.ycsb.rocksdb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.ycsb.PrepareStep;
import dev.sluice.ycsb.SettingException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import site.ycsb.ByteIterator;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

/** What is particular to RocksDB; the rest is in {@link RocksDbContractTest}. */
class RocksDbClientTest {
  private static final String TABLE = "usertable";

  @TempDir private Path folder;
  private final Properties properties = new Properties();
  private final List<RocksDbClient> clients = new ArrayList<>();

  @BeforeEach
  void name() {
    properties.setProperty("rocksdb.directory", folder.resolve("deep/database").toString());
  }

  @AfterEach
  void close() throws DBException {
    for (RocksDbClient each : clients) {
      each.cleanup();
    }
  }

  @Test
  void withoutADatabaseItSaysWhatToDo() {
    String message = assertThrows(SettingException.class, this::client).getMessage();
    assertTrue(message.contains("create-table"), message);
  }

  @Test
  void databaseIsMadeOnceAndDroppedTwice() throws Exception {
    step("create-table");
    var twice = assertThrows(SettingException.class, () -> step("create-table"));
    assertTrue(twice.getMessage().contains("drop-table"), twice.getMessage());
    step("drop-table");
    step("drop-table");
    assertFalse(Files.exists(folder.resolve("deep/database/CURRENT")));
  }

  @Test
  void databaseOfAnotherProcessIsNotOpened() throws Exception {
    step("create-table");
    client();
    // RocksDB locks by directory, within a process too.
    var other = assertThrows(Exception.class, () -> step("flush"));
    assertTrue(other.getMessage().contains("lock"), other.getMessage());
  }

  @Test
  void threadsShareTheDatabaseAndTheLastOneClosesIt() throws Exception {
    step("create-table");
    RocksDbClient first = client();
    RocksDbClient second = client();
    assertEquals(Status.OK, first.insert(TABLE, "k", value("v")));
    assertEquals("v", read(second, "k"));
    first.cleanup();
    assertEquals("v", read(second, "k"));
    second.cleanup();
    step("flush");
    assertEquals("v", read(client(), "k"));
  }

  @Test
  void updateOfAMissingKeyIsNotFoundAndWritesNothing() throws Exception {
    step("create-table");
    RocksDbClient client = client();
    assertEquals(Status.NOT_FOUND, client.update(TABLE, "k", value("v")));
    assertEquals(Status.NOT_FOUND, client.read(TABLE, "k", null, new HashMap<>()));
  }

  @Test
  void insertOfAKeyThatExistsOverwritesIt() throws Exception {
    step("create-table");
    RocksDbClient client = client();
    assertEquals(Status.OK, client.insert(TABLE, "k", value("old")));
    assertEquals(Status.OK, client.insert(TABLE, "k", value("new")));
    assertEquals("new", read(client, "k"));
  }

  @Test
  void batchIsWrittenWhenItIsFullAndAtTheEnd() throws Exception {
    step("create-table");
    RocksDbClient watching = client();
    properties.setProperty("rocksdb.batchsize", "2");
    RocksDbClient client = client();
    assertEquals(Status.BATCHED_OK, client.insert(TABLE, "a", value("1")));
    assertEquals(Status.NOT_FOUND, watching.read(TABLE, "a", null, new HashMap<>()));
    assertEquals(Status.OK, client.insert(TABLE, "b", value("2")));
    assertEquals("1", read(watching, "a"));
    assertEquals(Status.BATCHED_OK, client.insert(TABLE, "c", value("3")));
    client.cleanup();
    assertEquals("3", read(watching, "c"));
  }

  @Test
  void syncedWritesAreRead() throws Exception {
    properties.setProperty("rocksdb.sync", "true");
    step("create-table");
    RocksDbClient client = client();
    assertEquals(Status.OK, client.insert(TABLE, "k", value("v")));
    assertEquals("v", read(client, "k"));
  }

  @Test
  void optionStringsReachTheDatabase() throws Exception {
    properties.setProperty("rocksdb.databaseoptions", "max_background_jobs=3;max_open_files=50");
    properties.setProperty("rocksdb.familyoptions", "write_buffer_size=1048576");
    step("create-table");
    String written = Files.readString(newestOptions());
    for (String option :
        List.of("max_background_jobs=3", "max_open_files=50", "write_buffer_size=1048576")) {
      assertTrue(written.contains(option + "\n"), written);
    }
  }

  @Test
  void optionsFileReachesTheDatabase() throws Exception {
    properties.setProperty("rocksdb.familyoptions", "write_buffer_size=1048576");
    step("create-table");
    Path file = Files.copy(newestOptions(), folder.resolve("options"));
    step("drop-table");
    properties.remove("rocksdb.familyoptions");
    properties.setProperty("rocksdb.optionsfile", file.toString());
    step("create-table");
    assertTrue(Files.readString(newestOptions()).contains("write_buffer_size=1048576\n"));
  }

  @ParameterizedTest
  @CsvSource({
    "rocksdb.databaseoptions, colour=red, names and values",
    "rocksdb.familyoptions, write_buffer_size=much, names and values",
  })
  void whatRocksDbDoesNotTakeIsNamed(String name, String value, String why) {
    properties.setProperty(name, value);
    var refused = assertThrows(SettingException.class, () -> step("create-table"));
    assertTrue(refused.getMessage().startsWith(name + "=" + value), refused.getMessage());
    assertTrue(refused.getMessage().contains(why), refused.getMessage());
  }

  @Test
  void optionsFileThatIsNoneIsNamed() throws Exception {
    Path file = Files.writeString(folder.resolve("options"), "[DBOptions");
    properties.setProperty("rocksdb.optionsfile", file.toString());
    var refused = assertThrows(SettingException.class, () -> step("create-table"));
    assertTrue(refused.getMessage().startsWith("rocksdb.optionsfile="), refused.getMessage());
  }

  @Test
  void otherFamiliesStayAndAreNotRead() throws Exception {
    properties.setProperty("rocksdb.family", "records");
    step("create-table");
    RocksDbClient client = client();
    assertEquals(Status.OK, client.insert(TABLE, "k", value("v")));
    client.cleanup();
    properties.setProperty("rocksdb.family", "default");
    RocksDbClient other = client();
    assertEquals(Status.NOT_FOUND, other.read(TABLE, "k", null, new HashMap<>()));
    other.cleanup();
    properties.setProperty("rocksdb.family", "missing");
    String message = assertThrows(SettingException.class, this::client).getMessage();
    assertTrue(message.contains("[default, records]"), message);
  }

  @Test
  void stepsBetweenRunsKeepTheRecords() throws Exception {
    properties.setProperty("rocksdb.familyoptions", "write_buffer_size=65536");
    step("create-table");
    RocksDbClient client = client();
    for (int i = 0; i < 1000; i++) {
      assertEquals(Status.OK, client.insert(TABLE, "k" + i, value("v".repeat(1000))));
    }
    client.cleanup();
    for (String name : List.of("flush", "settle", "compact", "settle")) {
      step(name);
    }
    assertEquals("v".repeat(1000), read(client(), "k999"));
  }

  @Test
  @Timeout(600)
  void settleDoesNotWaitForCompactionsThatNeverBegin() throws Exception {
    properties.setProperty("rocksdb.familyoptions", "disable_auto_compactions=true");
    step("create-table");
    RocksDbClient client = client();
    client.insert(TABLE, "k", value("v"));
    client.cleanup();
    // As many files of level 0 as make a compaction due.
    for (int file = 0; file < 5; file++) {
      client = client();
      client.insert(TABLE, "k" + file, value("v"));
      client.cleanup();
      step("flush");
    }
    step("settle");
    assertEquals("v", read(client(), "k4"));
  }

  /** The options that RocksDB wrote when it opened the database last. */
  private Path newestOptions() throws IOException {
    try (Stream<Path> files = Files.list(folder.resolve("deep/database"))) {
      return files
          .filter(file -> file.getFileName().toString().startsWith("OPTIONS-"))
          .max(Comparator.comparing(Path::getFileName))
          .orElseThrow();
    }
  }

  private RocksDbClient client() throws DBException {
    RocksDbClient client = new RocksDbClient();
    client.setProperties((Properties) properties.clone());
    client.init();
    clients.add(client);
    return client;
  }

  private void step(String name) throws Exception {
    for (PrepareStep step : new RocksDbBinding().prepareSteps()) {
      if (step.name().equals(name)) {
        step.action().run(properties);
      }
    }
  }

  private static String read(RocksDbClient client, String key) {
    Map<String, ByteIterator> row = new HashMap<>();
    assertEquals(Status.OK, client.read(TABLE, key, null, row));
    return row.get("field0").toString();
  }

  private static Map<String, ByteIterator> value(String value) {
    return Map.of("field0", new StringByteIterator(value));
  }
}
