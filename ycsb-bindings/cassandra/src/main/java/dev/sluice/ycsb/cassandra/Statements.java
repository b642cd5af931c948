package dev.sluice.ycsb.cassandra;

import dev.sluice.ycsb.Identifier;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** The text of the statements. */
final class Statements {
  /** The column of the key. */
  static final String KEY = "ycsb_key";

  private static final String KEY_COLUMN = Identifier.quote(KEY);

  private Statements() {}

  /** Parameter: key. Null means all fields. */
  static String read(String table, Collection<String> fields) {
    return "SELECT " + columns(fields) + " FROM " + table + " WHERE " + KEY_COLUMN + " = ?";
  }

  /**
   * Parameters: first key, limit. Partitions are kept in the order of their keys' tokens, and no
   * statement can ask for another without all of them being read.
   */
  static String scan(String table, Collection<String> fields) {
    return String.format(
        "SELECT %1$s FROM %2$s WHERE token(%3$s) >= token(?) LIMIT ?",
        columns(fields), table, KEY_COLUMN);
  }

  /** Parameters: key, the fields in their order. */
  static String insert(String table, Collection<String> fields) {
    String marks = String.join(", ", Collections.nCopies(fields.size() + 1, "?"));
    String columns = fields.isEmpty() ? "" : ", " + join(fields, "%s");
    return "INSERT INTO " + table + " (" + KEY_COLUMN + columns + ") VALUES (" + marks + ")";
  }

  /** Parameter: key. */
  static String delete(String table) {
    return "DELETE FROM " + table + " WHERE " + KEY_COLUMN + " = ?";
  }

  static String createKeyspace(CassandraSettings settings) {
    return String.format(
        "CREATE KEYSPACE IF NOT EXISTS %s WITH replication ="
            + " {'class': 'NetworkTopologyStrategy', '%s': %d}",
        Identifier.quote(settings.keyspace()), settings.datacenter(), settings.replicas());
  }

  static String createTable(String table, String fieldPrefix, int fieldCount) {
    List<String> fields = IntStream.range(0, fieldCount).mapToObj(i -> fieldPrefix + i).toList();
    return String.format(
        "CREATE TABLE %s (%s text PRIMARY KEY, %s)", table, KEY_COLUMN, join(fields, "%s blob"));
  }

  static String dropTable(String table) {
    return "DROP TABLE IF EXISTS " + table;
  }

  /** The table with its keyspace, as all statements need it. */
  static String qualified(CassandraSettings settings, String table) {
    return Identifier.quote(settings.keyspace()) + "." + Identifier.quote(table);
  }

  private static String columns(Collection<String> fields) {
    return fields == null ? "*" : join(fields, "%s");
  }

  private static String join(Collection<String> fields, String format) {
    return fields.stream()
        .map(field -> String.format(format, Identifier.quote(field)))
        .collect(Collectors.joining(", "));
  }
}
