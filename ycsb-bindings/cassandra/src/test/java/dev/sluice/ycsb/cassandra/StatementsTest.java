package dev.sluice.ycsb.cassandra;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.ycsb.SettingException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is sent to a node, without one. */
class StatementsTest {
  @Test
  void namesKeepTheirCase() {
    assertEquals(
        "INSERT INTO t (\"ycsb_key\", \"field0\", \"Field1\") VALUES (?, ?, ?)",
        Statements.insert("t", List.of("field0", "Field1")));
    assertEquals("INSERT INTO t (\"ycsb_key\") VALUES (?)", Statements.insert("t", List.of()));
  }

  @Test
  void aScanGoesByTheTokenOfItsFirstKey() {
    assertEquals(
        "SELECT * FROM t WHERE token(\"ycsb_key\") >= token(?) LIMIT ?",
        Statements.scan("t", null));
    assertTrue(Statements.scan("t", List.of("a", "b")).startsWith("SELECT \"a\", \"b\" FROM"));
  }

  @Test
  void aRecordIsAPartition() {
    assertEquals(
        "CREATE TABLE t (\"ycsb_key\" text PRIMARY KEY, \"f0\" blob, \"f1\" blob)",
        Statements.createTable("t", "f", 2));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "1st", "a b", "a\"; DROP TABLE b; --", "größe"})
  void namesThatAreNoIdentifiersAreRefused(String name) {
    String message =
        assertThrows(SettingException.class, () -> Statements.read("t", List.of(name)))
            .getMessage();
    assertTrue(message.contains("use ASCII letters"), message);
  }
}
