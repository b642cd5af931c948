package dev.sluice.ycsb.contract;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.ycsb.StoreBinding;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

/**
 * What YCSB expects of a store, whatever the store. A binding extends this class and says how to
 * reach a real server; its own test class covers what is particular to it.
 */
public abstract class StoreContract {
  /** Directory of the workload files, from the build. */
  private static final Path WORKLOADS = Path.of(System.getProperty("sluice.workloads"));

  private static final String TABLE = "usertable";
  private static final int RECORDS = 400;
  private static final int OPERATIONS = 400;
  private static final int THREADS = 4;

  private final List<DB> clients = new ArrayList<>();
  private DB client;

  /** For subclasses. */
  protected StoreContract() {}

  /** The binding under test. */
  protected abstract StoreBinding binding();

  /** Settings that reach a running store. */
  protected abstract Properties settings();

  /** Whether a field can hold any bytes; if not, it holds UTF-8 text and refuses the rest. */
  protected abstract boolean holdsAnyBytes();

  /**
   * Returns when what is written next is newer than all before, for stores that go by the clock.
   */
  protected void awaitNewerVersions() {}

  /** The order of scans, in which the empty text comes first. */
  protected Comparator<String> scanOrder() {
    return Comparator.comparing(
        key -> key.getBytes(StandardCharsets.UTF_8), Arrays::compareUnsigned);
  }

  @BeforeEach
  void startEmpty() throws Exception {
    prepare(StoreBinding.DROP_TABLE);
    prepare(StoreBinding.CREATE_TABLE);
    client = newClient();
  }

  @AfterEach
  void disconnect() throws DBException {
    for (DB each : clients) {
      each.cleanup();
    }
    clients.clear();
  }

  @Test
  void readsAllFieldsOfARecord() {
    insert("k", Map.of("field0", "zero", "field1", "one"));
    assertEquals(Map.of("field0", "zero", "field1", "one"), read("k", null));
  }

  @Test
  void readsOnlyTheFieldsAskedFor() {
    insert("k", Map.of("field0", "zero", "field1", "one", "field2", "two"));
    assertEquals(Map.of("field0", "zero", "field2", "two"), read("k", Set.of("field0", "field2")));
  }

  @Test
  void readOfAMissingKeyIsNotFound() {
    Map<String, ByteIterator> result = new HashMap<>();
    assertEquals(Status.NOT_FOUND, client.read(TABLE, "none", null, result));
    assertEquals(Map.of(), result);
  }

  @Test
  void updateLeavesOtherFieldsAlone() {
    insert("k", Map.of("field0", "old", "field1", "kept"));
    assertEquals(Status.OK, client.update(TABLE, "k", values(Map.of("field0", "new"))));
    assertEquals(Map.of("field0", "new", "field1", "kept"), read("k", null));
  }

  @Test
  void deletedRecordIsGone() {
    insert("k", Map.of("field0", "v"));
    insert("other", Map.of("field0", "v"));
    assertEquals(Status.OK, client.delete(TABLE, "k"));
    assertEquals(Status.NOT_FOUND, client.read(TABLE, "k", null, new HashMap<>()));
    assertEquals(Map.of("field0", "v"), read("other", null));
  }

  @Test
  void deletedKeyCanBeInsertedAgain() {
    insert("k", Map.of("field0", "first", "field1", "first"));
    assertEquals(Status.OK, client.delete(TABLE, "k"));
    awaitNewerVersions();
    insert("k", Map.of("field0", "second"));
    assertEquals(Map.of("field0", "second"), read("k", null));
  }

  @Test
  void scanIsInOrderAndHasALimit() {
    List<String> keys = List.of("b", "B", "a1", "a", "ä", "c", "a10", "a2");
    keys.forEach(key -> insert(key, Map.of("field0", key)));
    assertEquals(inOrder(keys).subList(0, 4), scan("", 4, null));
    String fourth = inOrder(keys).get(3);
    assertEquals(inOrder(keys).subList(3, 8), scan(fourth, 5, null));
  }

  @Test
  void scanStartsAtTheNextKeyWhenItsOwnIsMissing() {
    List<String> keys = inOrder(List.of("a", "b", "c"));
    insert(keys.get(0), Map.of("field0", keys.get(0)));
    insert(keys.get(2), Map.of("field0", keys.get(2)));
    assertEquals(List.of(keys.get(2)), scan(keys.get(1), 10, null));
  }

  @Test
  void scanOverTheEndReturnsWhatIsThere() {
    List<String> keys = inOrder(List.of("a", "b", "c"));
    insert(keys.get(0), Map.of("field0", keys.get(0)));
    insert(keys.get(1), Map.of("field0", keys.get(1)));
    assertEquals(List.of(keys.get(1)), scan(keys.get(1), 10, null));
    assertEquals(List.of(), scan(keys.get(2), 10, null));
  }

  private List<String> inOrder(List<String> keys) {
    return keys.stream().sorted(scanOrder()).toList();
  }

  @Test
  void scanOfNoRecordsReturnsNone() {
    insert("a", Map.of("field0", "a"));
    assertEquals(List.of(), scan("a", 0, null));
  }

  @Test
  void scanReturnsOnlyTheFieldsAskedFor() {
    insert("a", Map.of("field0", "a", "field1", "not asked for"));
    assertEquals(List.of("a"), scan("a", 1, Set.of("field0")));
  }

  @Test
  void holdsUnicodeAndEmptyAndLongValues() {
    Map<String, String> fields =
        Map.of(
            "field0", "Grüße, 世界, 🐘, ' \" \\ % $1 ?; --",
            "field1", "",
            "field2", "x".repeat(1_000_000));
    insert("schlüssel-鍵 '\"", fields);
    assertEquals(fields, read("schlüssel-鍵 '\"", null));
  }

  @Test
  void bytesAreReadBackAsTheyWereOrRefused() {
    byte[] all = new byte[256];
    for (int i = 0; i < all.length; i++) {
      all[i] = (byte) i;
    }
    if (!holdsAnyBytes()) {
      assertRefused(all);
      assertRefused(new byte[] {'a', 0, 'b'});
      assertRefused(new byte[] {(byte) 0xff});
      return;
    }
    assertEquals(Status.OK, client.insert(TABLE, "k", bytes(all)));
    Map<String, ByteIterator> result = new HashMap<>();
    assertEquals(Status.OK, client.read(TABLE, "k", null, result));
    assertArrayEquals(all, result.get("field0").toArray());
  }

  @Test
  void textGivenAsBytesIsReadBackAsItWas() {
    byte[] text = "größer".getBytes(StandardCharsets.UTF_8);
    assertEquals(Status.OK, client.insert(TABLE, "k", bytes(text)));
    Map<String, ByteIterator> result = new HashMap<>();
    assertEquals(Status.OK, client.read(TABLE, "k", null, result));
    assertArrayEquals(text, result.get("field0").toArray());
  }

  @Test
  void threadsDoNotDisturbOneAnother() throws Exception {
    List<Callable<Void>> work = new ArrayList<>();
    for (int thread = 0; thread < THREADS; thread++) {
      String prefix = "t" + thread + "-";
      DB own = newClient();
      work.add(() -> insertUpdateDelete(own, prefix));
    }
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      for (Future<Void> done : threads.invokeAll(work)) {
        done.get();
      }
    } finally {
      threads.shutdown();
    }
    assertEquals(THREADS * 50, scan("", THREADS * 100, null).size());
    assertEquals(Map.of("field0", "new"), read("t3-99", null));
  }

  /** 100 records of which the odd ones stay, updated. */
  private Void insertUpdateDelete(DB own, String prefix) {
    for (int i = 0; i < 100; i++) {
      String key = prefix + i;
      assertEquals(Status.OK, own.insert(TABLE, key, values(Map.of("field0", "old"))));
      assertEquals(Status.OK, own.update(TABLE, key, values(Map.of("field0", "new"))));
      if (i % 2 == 0) {
        assertEquals(Status.OK, own.delete(TABLE, key));
      }
    }
    return null;
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "b", "c", "d", "e", "f"})
  void worksUnderYcsbItself(String letter) throws Exception {
    YcsbClient.Output load = ycsb(letter, "-load");
    assertEquals(Map.of("INSERT", Map.of("OK", (long) RECORDS)), load.statuses(), load.text());
    assertEquals(RECORDS, scan("", 2 * RECORDS, null).size());

    YcsbClient.Output run = ycsb(letter, "-t");
    assertEquals(0, run.exitCode(), run.text());
    Map<String, Map<String, Long>> statuses = run.statuses();
    assertTrue(
        statuses.values().stream().allMatch(s -> s.keySet().equals(Set.of("OK"))), run.text());
    long verified = ok(statuses, "VERIFY");
    assertEquals(ok(statuses, "READ"), verified, run.text());
    long all = ok(statuses, "READ") + ok(statuses, "INSERT") + ok(statuses, "SCAN");
    long updates = ok(statuses, "UPDATE");
    // A read-modify-write counts as a read and an update.
    assertEquals(OPERATIONS, letter.equals("f") ? all : all + updates, run.text());
    assertEquals(
        RECORDS + ok(statuses, "INSERT"), scan("", 2 * (RECORDS + OPERATIONS), null).size());
  }

  private YcsbClient.Output ycsb(String letter, String phase) throws Exception {
    Properties properties = new Properties();
    settings().forEach(properties::put);
    properties.setProperty("recordcount", Integer.toString(RECORDS));
    properties.setProperty("operationcount", Integer.toString(OPERATIONS));
    properties.setProperty("dataintegrity", "true");
    Path workload = WORKLOADS.resolve(letter + ".properties");
    String threads = Integer.toString(THREADS);
    Class<?> db = binding().newDb().getClass();
    // An embedded store is open in one process at a time.
    disconnect();
    YcsbClient.Output output = YcsbClient.run(db, workload, properties, phase, "-threads", threads);
    client = newClient();
    return output;
  }

  private static long ok(Map<String, Map<String, Long>> statuses, String metric) {
    return statuses.getOrDefault(metric, Map.of()).getOrDefault("OK", 0L);
  }

  /** A client of its own connection, closed after the test. */
  protected final DB newClient() throws DBException {
    DB made = binding().newDb();
    made.setProperties(settings());
    made.init();
    clients.add(made);
    return made;
  }

  private void prepare(String step) throws Exception {
    binding().prepareSteps().stream()
        .filter(each -> each.name().equals(step))
        .findFirst()
        .orElseThrow()
        .action()
        .run(settings());
  }

  private void insert(String key, Map<String, String> fields) {
    assertEquals(Status.OK, client.insert(TABLE, key, values(fields)));
  }

  private void assertRefused(byte[] value) {
    assertEquals(Status.BAD_REQUEST, client.insert(TABLE, "k", bytes(value)));
    assertEquals(Status.NOT_FOUND, client.read(TABLE, "k", null, new HashMap<>()));
  }

  private Map<String, String> read(String key, Set<String> fields) {
    Map<String, ByteIterator> result = new HashMap<>();
    assertEquals(Status.OK, client.read(TABLE, key, fields, result));
    return strings(result);
  }

  /** The values of field0 in the order of the scan. */
  private List<String> scan(String start, int limit, Set<String> fields) {
    Vector<HashMap<String, ByteIterator>> rows = new Vector<>();
    assertEquals(Status.OK, client.scan(TABLE, start, limit, fields, rows));
    if (fields != null) {
      rows.forEach(row -> assertEquals(fields, row.keySet()));
    }
    return rows.stream().map(row -> row.get("field0").toString()).toList();
  }

  private static Map<String, ByteIterator> values(Map<String, String> fields) {
    Map<String, ByteIterator> values = new HashMap<>();
    fields.forEach((name, value) -> values.put(name, new StringByteIterator(value)));
    return values;
  }

  private static Map<String, ByteIterator> bytes(byte[] value) {
    return Map.of("field0", new ByteArrayByteIterator(value));
  }

  private static Map<String, String> strings(Map<String, ByteIterator> values) {
    Map<String, String> strings = new HashMap<>();
    values.forEach((name, value) -> strings.put(name, value.toString()));
    return strings;
  }
}
