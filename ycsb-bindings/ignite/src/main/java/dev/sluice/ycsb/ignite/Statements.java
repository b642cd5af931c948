package dev.sluice.ycsb.ignite;

import dev.sluice.ycsb.Identifier;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The text of the statements; each node keeps the plans of those that it has seen. */
final class Statements {
  private static final String KEY_COLUMN = Identifier.quote(StoredRecord.KEY);
  private static final String GROUP_COLUMN = Identifier.quote(KeyGroups.COLUMN);

  /** The longest that a column can be; by default it is 65,536 bytes. */
  private static final String FIELD_TYPE = "VARBINARY(" + Integer.MAX_VALUE + ")";

  private Statements() {}

  /** Parameters: first key, limit. Null means all fields. */
  static String scan(String table, Collection<String> fields) {
    String columns = fields == null ? "*" : join(fields, "%s");
    return "SELECT "
        + columns
        + " FROM "
        + Identifier.quote(table)
        + (" WHERE " + KEY_COLUMN + " >= ? ORDER BY " + KEY_COLUMN + " LIMIT ?");
  }

  /** Parameters: the fields in their order, key, and the key's group where it has one. */
  static String update(String table, Collection<String> fields, boolean isGrouped) {
    return "UPDATE "
        + Identifier.quote(table)
        + " SET "
        + join(fields, "%s = ?")
        + " WHERE "
        + KEY_COLUMN
        + " = ?"
        + (isGrouped ? " AND " + GROUP_COLUMN + " = ?" : "");
  }

  /** A zone of the table's name, for where its partitions are. */
  static String createZone(String table, IgniteSettings settings) {
    return String.format(
        "CREATE ZONE %s (PARTITIONS %d, REPLICAS %d) STORAGE PROFILES ['%s']",
        Identifier.quote(table), settings.partitions(), settings.replicas(), settings.profile());
  }

  /** The key is sorted, so that a scan reads no more than it returns. */
  static String createTable(String table, String fieldPrefix, int fieldCount, boolean isGrouped) {
    List<String> fields = IntStream.range(0, fieldCount).mapToObj(i -> fieldPrefix + i).toList();
    String format =
        isGrouped
            ? "CREATE TABLE %1$s (%2$s VARCHAR, %4$s INT, %3$s,"
                + " PRIMARY KEY USING SORTED (%2$s, %4$s)) COLOCATE BY (%4$s) ZONE %1$s"
            : "CREATE TABLE %1$s (%2$s VARCHAR, %3$s, PRIMARY KEY USING SORTED (%2$s)) ZONE %1$s";
    return String.format(
        format,
        Identifier.quote(table),
        KEY_COLUMN,
        join(fields, "%s " + FIELD_TYPE),
        GROUP_COLUMN);
  }

  /** Name of the table with the groups of a table's keys. */
  static String groupTable(String table) {
    return table + "_groups";
  }

  static String createGroupTable(String table) {
    return String.format(
        "CREATE TABLE %s (%s INT PRIMARY KEY, \"node\" VARCHAR, \"share\" DOUBLE) ZONE %s",
        Identifier.quote(groupTable(table)), GROUP_COLUMN, Identifier.quote(table));
  }

  /** Parameters: number, node, share. */
  static String insertGroup(String table) {
    return "INSERT INTO " + Identifier.quote(groupTable(table)) + " VALUES (?, ?, ?)";
  }

  /** In an order that is always the same. */
  static String readGroups(String table) {
    return String.format(
        "SELECT %1$s, \"node\", \"share\" FROM %2$s ORDER BY %1$s",
        GROUP_COLUMN, Identifier.quote(groupTable(table)));
  }

  static String dropTable(String table) {
    return "DROP TABLE IF EXISTS " + Identifier.quote(table);
  }

  static String dropZone(String table) {
    return "DROP ZONE IF EXISTS " + Identifier.quote(table);
  }

  private static String join(Collection<String> fields, String format) {
    return fields.stream()
        .map(field -> String.format(format, Identifier.quote(field)))
        .collect(Collectors.joining(", "));
  }
}
