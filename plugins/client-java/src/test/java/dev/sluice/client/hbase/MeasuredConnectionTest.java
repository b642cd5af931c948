package dev.sluice.client.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.client.LatencyReporter;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Table;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What pools, lists and maps ask of a connection and its tables. */
class MeasuredConnectionTest {
  private static final TableName TABLE = TableName.valueOf("orders");

  @TempDir private Path directory;
  private LatencyReporter reporter;

  @BeforeEach
  void startReporter() {
    reporter = LatencyReporter.start(directory.resolve("agent.sock"), "hbase");
  }

  @AfterEach
  void closeReporter() {
    reporter.close();
  }

  /** One of HBase's as far as it is asked here; it is equal to itself alone. */
  private static <T> T ofHbase(Class<T> type, Object made) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "equals" -> proxy == arguments[0];
                  case "hashCode" -> System.identityHashCode(proxy);
                  default -> made;
                }));
  }

  private Connection connection() {
    return MeasuredConnection.of(ofHbase(Connection.class, ofHbase(Table.class, TABLE)), reporter);
  }

  @Test
  void aConnectionIsEqualToItselfAlone() {
    Connection connection = connection();
    assertTrue(List.of(connection).contains(connection));
    assertEquals(connection.hashCode(), connection.hashCode());
    assertFalse(connection.equals(connection()));
    assertFalse(connection.equals(null));
  }

  @Test
  void aTableIsEqualToItselfAlone() throws Exception {
    Connection connection = connection();
    Table table = connection.getTable(TABLE);
    assertTrue(List.of(table).contains(table));
    assertFalse(table.equals(connection.getTable(TABLE)));
    assertFalse(table.equals(null));
  }
}
