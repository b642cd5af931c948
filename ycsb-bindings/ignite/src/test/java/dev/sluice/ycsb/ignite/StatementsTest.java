package dev.sluice.ycsb.ignite;

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
        "UPDATE \"usertable\" SET \"field0\" = ?, \"Field1\" = ? WHERE \"ycsb_key\" = ?",
        Statements.update("usertable", List.of("field0", "Field1"), false));
  }

  @Test
  void scanOfAllFieldsNamesNone() {
    assertEquals(
        "SELECT * FROM \"t\" WHERE \"ycsb_key\" >= ? ORDER BY \"ycsb_key\" LIMIT ?",
        Statements.scan("t", null));
    assertTrue(Statements.scan("t", List.of("a", "b")).startsWith("SELECT \"a\", \"b\" FROM"));
  }

  @Test
  void tableIsSortedByItsKeyInAZoneOfItsName() {
    assertEquals(
        "CREATE TABLE \"t\" (\"ycsb_key\" VARCHAR, \"f0\" VARBINARY(2147483647),"
            + " \"f1\" VARBINARY(2147483647), PRIMARY KEY USING SORTED (\"ycsb_key\")) ZONE \"t\"",
        Statements.createTable("t", "f", 2, false));
  }

  @Test
  void rowsOfAGroupAreInOnePartitionAndFoundByIt() {
    assertEquals(
        "CREATE TABLE \"t\" (\"ycsb_key\" VARCHAR, \"ycsb_group\" INT,"
            + " \"f0\" VARBINARY(2147483647), PRIMARY KEY USING SORTED (\"ycsb_key\","
            + " \"ycsb_group\")) COLOCATE BY (\"ycsb_group\") ZONE \"t\"",
        Statements.createTable("t", "f", 1, true));
    assertTrue(
        Statements.update("t", List.of("f0"), true)
            .endsWith(" WHERE \"ycsb_key\" = ? AND \"ycsb_group\" = ?"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "1st", "a b", "a\"; DROP TABLE b; --", "größe"})
  void namesThatAreNoIdentifiersAreRefused(String name) {
    String message =
        assertThrows(SettingException.class, () -> Statements.dropTable(name)).getMessage();
    assertTrue(message.contains("use ASCII letters"), message);
  }
}
