package dev.sluice.ycsb.postgres;

import dev.sluice.ycsb.Identifier;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The statements of one connection, each prepared once per table and set of fields. */
final class Statements {
  static final String KEY = "ycsb_key";

  /** PostgreSQL cuts longer names off silently (NAMEDATALEN - 1). */
  private static final int LONGEST_NAME = 63;

  private static final String KEY_COLUMN = quote(KEY);

  private enum Kind {
    READ,
    SCAN,
    UPDATE,
    INSERT,
    UPSERT,
    DELETE
  }

  private record Shape(Kind kind, String table, List<String> fields) {}

  private final Connection connection;
  private final Map<Shape, PreparedStatement> prepared = new HashMap<>();

  /**
   * The name of a table or column in double quotes.
   *
   * @throws dev.sluice.ycsb.SettingException when it is none that is safe, or too long
   */
  static String quote(String name) {
    return Identifier.quote(name, LONGEST_NAME);
  }

  Statements(Connection connection) {
    this.connection = connection;
  }

  /** Parameter: key. No fields means all. */
  PreparedStatement read(String table, Collection<String> fields) throws SQLException {
    return statement(new Shape(Kind.READ, table, List.copyOf(fields)));
  }

  /** Parameters: first key, limit. No fields means all. */
  PreparedStatement scan(String table, Collection<String> fields) throws SQLException {
    return statement(new Shape(Kind.SCAN, table, List.copyOf(fields)));
  }

  /** Parameters: the fields in their order, key. */
  PreparedStatement update(String table, Collection<String> fields) throws SQLException {
    return statement(new Shape(Kind.UPDATE, table, List.copyOf(fields)));
  }

  /** Parameters: key, the fields in their order. */
  PreparedStatement insert(String table, Collection<String> fields, boolean upsert)
      throws SQLException {
    Kind kind = upsert ? Kind.UPSERT : Kind.INSERT;
    return statement(new Shape(kind, table, List.copyOf(fields)));
  }

  /** Parameter: key. */
  PreparedStatement delete(String table) throws SQLException {
    return statement(new Shape(Kind.DELETE, table, List.of()));
  }

  private PreparedStatement statement(Shape shape) throws SQLException {
    PreparedStatement statement = prepared.get(shape);
    if (statement == null) {
      statement = connection.prepareStatement(sql(shape));
      prepared.put(shape, statement);
    }
    return statement;
  }

  private static String sql(Shape shape) {
    String table = quote(shape.table());
    List<String> columns = shape.fields().stream().map(Statements::quote).toList();
    return switch (shape.kind()) {
      case READ -> select(table, columns) + " WHERE " + KEY_COLUMN + " = ?";
      case SCAN ->
          select(table, columns)
              + " WHERE "
              + KEY_COLUMN
              + " >= ? ORDER BY "
              + KEY_COLUMN
              + " LIMIT ?";
      case UPDATE ->
          "UPDATE " + table + " SET " + each(columns, "%s = ?") + " WHERE " + KEY_COLUMN + " = ?";
      case INSERT -> insert(table, columns);
      case UPSERT ->
          insert(table, columns)
              + " ON CONFLICT ("
              + KEY_COLUMN
              + ") DO UPDATE SET "
              + each(columns, "%1$s = EXCLUDED.%1$s");
      case DELETE -> "DELETE FROM " + table + " WHERE " + KEY_COLUMN + " = ?";
    };
  }

  private static String select(String table, List<String> columns) {
    return "SELECT " + (columns.isEmpty() ? "*" : String.join(", ", columns)) + " FROM " + table;
  }

  private static String insert(String table, List<String> columns) {
    return "INSERT INTO "
        + table
        + " ("
        + KEY_COLUMN
        + ", "
        + String.join(", ", columns)
        + ") VALUES (?"
        + ", ?".repeat(columns.size())
        + ")";
  }

  private static String each(List<String> columns, String format) {
    return columns.stream()
        .map(column -> String.format(format, column))
        .collect(Collectors.joining(", "));
  }
}
