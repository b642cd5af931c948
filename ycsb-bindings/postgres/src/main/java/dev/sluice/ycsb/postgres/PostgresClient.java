package dev.sluice.ycsb.postgres;

import dev.sluice.ycsb.ErrorLog;
import java.nio.charset.CharacterCodingException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.Vector;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * A YCSB client of PostgreSQL: one thread, one connection, one committed statement per operation.
 *
 * <p>A record is a row: the key in {@code ycsb_key}, each field in a column of its name.
 *
 * <ul>
 *   <li>{@code NOT_FOUND}: no row has the key.
 *   <li>{@code BAD_REQUEST}: a value that text cannot hold; nothing was sent.
 *   <li>{@code SERVICE_UNAVAILABLE}: the connection broke, was silent for too long, or could not be
 *       opened again.
 *   <li>{@code ERROR}: the server refused the statement.
 *   <li>{@code BATCHED_OK}: kept for a later insert or the end (only with a batch size above 1).
 * </ul>
 *
 * <p>No operation is tried twice, because a write that broke off may have been committed. After a
 * break the next operation opens a connection, at most once in {@value #RECONNECT_MILLISECONDS} ms.
 */
public final class PostgresClient extends DB {
  private static final ErrorLog ERRORS = new ErrorLog("postgres");
  private static final int RECONNECT_MILLISECONDS = 100;

  private PostgresSettings settings;
  private Connection connection;
  private Statements statements;
  private PreparedStatement batch;
  private int batched;
  private int lost;
  private long nextConnectNanos;

  @Override
  public void init() throws DBException {
    settings = PostgresSettings.of(getProperties());
    try {
      connect();
    } catch (SQLException e) {
      throw new DBException(settings.cannotConnect(e), e);
    }
  }

  @Override
  public void cleanup() throws DBException {
    try {
      if (connection != null) {
        flush();
      }
    } catch (SQLException e) {
      report(e);
    }
    close();
    if (lost > 0) {
      throw new DBException(
          "up to " + lost + " inserts of failed batches were lost; load again into an empty table");
    }
  }

  @Override
  public Status read(
      String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    return execute(
        () -> {
          PreparedStatement statement = statements.read(table, orAll(fields));
          statement.setString(1, key);
          try (ResultSet rows = statement.executeQuery()) {
            if (!rows.next()) {
              return Status.NOT_FOUND;
            }
            copyRow(rows, result);
            return Status.OK;
          }
        });
  }

  @Override
  public Status scan(
      String table,
      String startkey,
      int recordcount,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    return execute(
        () -> {
          PreparedStatement statement = statements.scan(table, orAll(fields));
          statement.setString(1, startkey);
          statement.setInt(2, recordcount);
          try (ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
              HashMap<String, ByteIterator> row = new HashMap<>();
              copyRow(rows, row);
              result.add(row);
            }
            return Status.OK;
          }
        });
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    return execute(
        () -> {
          List<String> fields = new ArrayList<>(values.keySet());
          PreparedStatement statement = statements.update(table, fields);
          setValues(statement, 1, fields, values);
          statement.setString(fields.size() + 1, key);
          return found(statement.executeUpdate());
        });
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    return execute(
        () -> {
          List<String> fields = new ArrayList<>(values.keySet());
          PreparedStatement statement = statements.insert(table, fields, settings.upsert());
          setValues(statement, 2, fields, values);
          statement.setString(1, key);
          if (settings.batchSize() > 1) {
            return addToBatch(statement);
          }
          statement.executeUpdate();
          return Status.OK;
        });
  }

  @Override
  public Status delete(String table, String key) {
    return execute(
        () -> {
          PreparedStatement statement = statements.delete(table);
          statement.setString(1, key);
          return found(statement.executeUpdate());
        });
  }

  private interface Operation {
    Status run() throws SQLException, CharacterCodingException;
  }

  private Status execute(Operation operation) {
    try {
      if (connection == null) {
        reconnect();
      }
      return operation.run();
    } catch (CharacterCodingException e) {
      ERRORS.report("BAD_REQUEST", "a value is not UTF-8 text without the character 0");
      return Status.BAD_REQUEST;
    } catch (SQLException e) {
      return failed(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Status.SERVICE_UNAVAILABLE;
    }
  }

  private Status failed(SQLException e) {
    report(e);
    if (!isBroken(e)) {
      return Status.ERROR;
    }
    close();
    return Status.SERVICE_UNAVAILABLE;
  }

  private boolean isBroken(SQLException e) {
    String state = e.getSQLState() == null ? "" : e.getSQLState();
    // Class 08: connection; 57P01 to 57P05: the server is going down or is not up.
    if (connection == null || state.startsWith("08") || state.startsWith("57P0")) {
      return true;
    }
    try {
      return connection.isClosed();
    } catch (SQLException closed) {
      return true;
    }
  }

  private void connect() throws SQLException {
    connection = settings.connect();
    statements = new Statements(connection);
  }

  /** Waits rather than spins, so that a dead server costs errors at a bounded rate. */
  private void reconnect() throws SQLException, InterruptedException {
    long wait = nextConnectNanos - System.nanoTime();
    if (wait > 0) {
      Thread.sleep(wait / 1_000_000 + 1);
    }
    nextConnectNanos = System.nanoTime() + RECONNECT_MILLISECONDS * 1_000_000L;
    connect();
  }

  private void close() {
    if (connection == null) {
      return;
    }
    try {
      connection.close();
    } catch (SQLException e) {
      report(e);
    }
    connection = null;
    lost += batched;
    batched = 0;
    nextConnectNanos = System.nanoTime();
  }

  private Status addToBatch(PreparedStatement statement) throws SQLException {
    if (batch != statement) {
      flush();
      batch = statement;
    }
    statement.addBatch();
    batched++;
    if (batched < settings.batchSize()) {
      return Status.BATCHED_OK;
    }
    flush();
    return Status.OK;
  }

  private void flush() throws SQLException {
    if (batched == 0) {
      return;
    }
    int sent = batched;
    batched = 0;
    lost += sent;
    commitBatch();
    lost -= sent;
  }

  /** In autocommit mode the driver would commit a large batch in parts. */
  private void commitBatch() throws SQLException {
    connection.setAutoCommit(false);
    try {
      batch.executeBatch();
      connection.commit();
    } catch (SQLException e) {
      rollBack(e);
      throw e;
    }
    connection.setAutoCommit(true);
  }

  private void rollBack(SQLException reason) {
    try {
      connection.rollback();
      connection.setAutoCommit(true);
    } catch (SQLException e) {
      // The connection broke, and is closed.
      reason.addSuppressed(e);
    }
  }

  private static Set<String> orAll(Set<String> fields) {
    return fields == null ? Set.of() : fields;
  }

  private static Status found(int rows) {
    return rows == 0 ? Status.NOT_FOUND : Status.OK;
  }

  private static void setValues(
      PreparedStatement statement, int first, List<String> fields, Map<String, ByteIterator> values)
      throws SQLException, CharacterCodingException {
    for (int i = 0; i < fields.size(); i++) {
      statement.setString(first + i, FieldValue.text(values.get(fields.get(i))));
    }
  }

  /** All columns but the key; a column that is NULL is a field that the record does not have. */
  private static void copyRow(ResultSet rows, Map<String, ByteIterator> result)
      throws SQLException {
    ResultSetMetaData columns = rows.getMetaData();
    for (int i = 1; i <= columns.getColumnCount(); i++) {
      String name = columns.getColumnLabel(i);
      String value = rows.getString(i);
      if (value != null && !name.equals(Statements.KEY)) {
        result.put(name, FieldValue.of(value));
      }
    }
  }

  private static void report(SQLException e) {
    ERRORS.report(Objects.requireNonNullElse(e.getSQLState(), "no SQLSTATE"), e.getMessage());
  }
}
