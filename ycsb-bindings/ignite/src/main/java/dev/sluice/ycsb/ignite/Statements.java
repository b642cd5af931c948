package dev.sluice.ycsb.ignite;

import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The text of the statements; each node keeps the plans of those that it has seen. */
final class Statements {
  private static final String KEY_COLUMN = Identifier.quote(StoredRecord.KEY);

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

  /** Parameters: the fields in their order, key. */
  static String update(String table, Collection<String> fields) {
    return "UPDATE "
        + Identifier.quote(table)
        + " SET "
        + join(fields, "%s = ?")
        + " WHERE "
        + KEY_COLUMN
        + " = ?";
  }

  /** A zone of the table's name, for where its partitions are. */
  static String createZone(String table, IgniteSettings settings) {
    return String.format(
        "CREATE ZONE %s (PARTITIONS %d, REPLICAS %d) STORAGE PROFILES ['%s']",
        Identifier.quote(table), settings.partitions(), settings.replicas(), settings.profile());
  }

  /** The key is sorted, so that a scan reads no more than it returns. */
  static String createTable(String table, String fieldPrefix, int fieldCount) {
    List<String> fields = IntStream.range(0, fieldCount).mapToObj(i -> fieldPrefix + i).toList();
    return String.format(
        "CREATE TABLE %1$s (%2$s VARCHAR, %3$s, PRIMARY KEY USING SORTED (%2$s)) ZONE %1$s",
        Identifier.quote(table), KEY_COLUMN, join(fields, "%s " + FIELD_TYPE));
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
