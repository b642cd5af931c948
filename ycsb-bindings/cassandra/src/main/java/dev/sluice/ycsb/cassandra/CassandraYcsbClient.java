package dev.sluice.ycsb.cassandra;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.DriverTimeoutException;
import com.datastax.oss.driver.api.core.RequestThrottlingException;
import com.datastax.oss.driver.api.core.connection.ClosedConnectionException;
import com.datastax.oss.driver.api.core.connection.HeartbeatException;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.servererrors.OverloadedException;
import com.datastax.oss.driver.api.core.servererrors.QueryConsistencyException;
import com.datastax.oss.driver.api.core.servererrors.UnavailableException;
import dev.sluice.ycsb.ErrorLog;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * A YCSB client of Cassandra: each thread waits for its operation, all threads share one session.
 *
 * <p>A record is a partition of one row: the key in {@code ycsb_key}, each field in a column of its
 * name. An insert and an update are both a write without a read: either makes a record that is not
 * there.
 *
 * <ul>
 *   <li>{@code NOT_FOUND}: a read of a key that no row has.
 *   <li>{@code SERVICE_UNAVAILABLE}: not enough replicas did it in time; a write may have been
 *       done.
 *   <li>{@code ERROR}: a node refused the operation.
 * </ul>
 */
public final class CassandraYcsbClient extends DB {
  private static final ErrorLog ERRORS = new ErrorLog("cassandra");

  /** Of errors that another node, or the same one later, would not have. */
  private static final List<Class<? extends DriverException>> PASSING =
      List.of(
          AllNodesFailedException.class,
          ClosedConnectionException.class,
          DriverTimeoutException.class,
          HeartbeatException.class,
          OverloadedException.class,
          QueryConsistencyException.class,
          RequestThrottlingException.class,
          UnavailableException.class);

  private CassandraSettings settings;
  private SharedSession shared;

  @Override
  public void init() throws DBException {
    settings = CassandraSettings.of(getProperties());
    try {
      shared = SharedSession.acquire(settings);
    } catch (DriverException | IllegalStateException e) {
      throw new DBException(Connector.cannotConnect(settings, e), e);
    }
  }

  @Override
  public void cleanup() {
    if (shared != null) {
      shared.release();
      shared = null;
    }
  }

  @Override
  public Status read(
      String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    return execute(
        () -> {
          Row row = query(Statements.read(qualified(table), fields), key).one();
          if (row == null) {
            return Status.NOT_FOUND;
          }
          StoredRecord.copy(row, result);
          return Status.OK;
        });
  }

  @Override
  public Status scan(
      String table,
      String startkey,
      int recordcount,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    if (recordcount < 1) {
      return Status.OK;
    }
    return execute(
        () -> {
          String statement = Statements.scan(qualified(table), fields);
          for (Row row : query(statement, startkey, recordcount)) {
            HashMap<String, ByteIterator> record = new HashMap<>();
            StoredRecord.copy(row, record);
            result.add(record);
          }
          return Status.OK;
        });
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    return insert(table, key, values);
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    return execute(
        () -> {
          List<Object> parameters = new ArrayList<>();
          parameters.add(key);
          Collection<String> fields = values.keySet();
          fields.forEach(field -> parameters.add(StoredRecord.bytes(values.get(field))));
          run(
              Statements.insert(qualified(table), fields),
              settings.writeConsistency(),
              parameters.toArray());
          return Status.OK;
        });
  }

  @Override
  public Status delete(String table, String key) {
    return execute(
        () -> {
          run(Statements.delete(qualified(table)), settings.writeConsistency(), key);
          return Status.OK;
        });
  }

  private interface Operation {
    Status run();
  }

  private static Status execute(Operation operation) {
    try {
      return operation.run();
    } catch (DriverException e) {
      ERRORS.report(e);
      return isPassing(e) ? Status.SERVICE_UNAVAILABLE : Status.ERROR;
    }
  }

  private static boolean isPassing(DriverException error) {
    return PASSING.stream().anyMatch(each -> each.isInstance(error));
  }

  private String qualified(String table) {
    return Statements.qualified(settings, table);
  }

  private ResultSet query(String statement, Object... parameters) {
    return run(statement, settings.readConsistency(), parameters);
  }

  private ResultSet run(String statement, ConsistencyLevel level, Object... parameters) {
    // Each may be done twice with the same outcome: the driver may ask another node.
    return shared
        .get()
        .execute(
            shared
                .prepare(statement)
                .bind(parameters)
                .setConsistencyLevel(level)
                .setIdempotent(true));
  }
}
