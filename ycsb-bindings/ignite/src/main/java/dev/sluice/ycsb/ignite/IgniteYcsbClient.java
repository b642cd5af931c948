package dev.sluice.ycsb.ignite;

import dev.sluice.ycsb.ErrorLog;
import dev.sluice.ycsb.Identifier;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.TimeoutException;
import org.apache.ignite.client.IgniteClient;
import org.apache.ignite.lang.ErrorGroups;
import org.apache.ignite.lang.IgniteException;
import org.apache.ignite.lang.TableNotFoundException;
import org.apache.ignite.sql.ResultSet;
import org.apache.ignite.sql.SqlRow;
import org.apache.ignite.table.QualifiedName;
import org.apache.ignite.table.RecordView;
import org.apache.ignite.table.Table;
import org.apache.ignite.table.Tuple;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * A YCSB client of Ignite: each thread waits for its operation, all threads share one client.
 *
 * <p>A record is a row: the key in {@code ycsb_key}, each field in a column of its name. Whole
 * records go by Ignite's record view, updates of some fields and scans by SQL; each operation is a
 * transaction.
 *
 * <ul>
 *   <li>{@code NOT_FOUND}: no row has the key.
 *   <li>{@code SERVICE_UNAVAILABLE}: no node did it in time; a write may have been done.
 *   <li>{@code ERROR}: a node refused the operation, also the insert of a key that exists.
 *   <li>{@code BATCHED_OK}: kept for a later insert or the end (only with a batch size above 1).
 * </ul>
 */
public final class IgniteYcsbClient extends DB {
  private static final ErrorLog ERRORS = new ErrorLog("ignite");

  /** Of errors that another node, or the same one later, would not have. */
  private static final Set<Short> PASSING =
      Set.of(
          ErrorGroups.Client.CLIENT_ERR_GROUP.groupCode(),
          ErrorGroups.Network.NETWORK_ERR_GROUP.groupCode(),
          ErrorGroups.PlacementDriver.PLACEMENT_DRIVER_ERR_GROUP.groupCode(),
          ErrorGroups.Replicator.REPLICATOR_ERR_GROUP.groupCode(),
          ErrorGroups.Transactions.TX_ERR_GROUP.groupCode());

  private IgniteSettings settings;
  private SharedClient shared;
  private final Map<String, RecordView<Tuple>> views = new HashMap<>();
  private final Map<String, KeyGroups> groups = new HashMap<>();
  private final List<Tuple> batch = new ArrayList<>();
  private String batchTable;
  private int lost;

  @Override
  public void init() throws DBException {
    settings = IgniteSettings.of(getProperties());
    try {
      shared = SharedClient.acquire(settings);
    } catch (IgniteException e) {
      throw new DBException(Connector.cannotConnect(settings, e), e);
    }
  }

  @Override
  public void cleanup() throws DBException {
    if (shared == null) {
      return;
    }
    execute(this::flush);
    shared.release();
    shared = null;
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
          Tuple row = view(table).get(null, key(table, key));
          if (row == null) {
            return Status.NOT_FOUND;
          }
          StoredRecord.copy(row, fields, result);
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
    return execute(
        () -> {
          view(table);
          String sql = Statements.scan(table, fields);
          try (ResultSet<SqlRow> rows = client().sql().execute(null, sql, startkey, recordcount)) {
            while (rows.hasNext()) {
              HashMap<String, ByteIterator> row = new HashMap<>();
              StoredRecord.copy(rows.next(), fields, row);
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
          List<Object> parameters = new ArrayList<>();
          values.values().forEach(value -> parameters.add(StoredRecord.bytes(value)));
          parameters.add(key);
          KeyGroups keyGroups = groups(table);
          if (!keyGroups.isEmpty()) {
            parameters.add(keyGroups.of(key));
          }
          String sql = Statements.update(table, values.keySet(), !keyGroups.isEmpty());
          try (ResultSet<SqlRow> done = client().sql().execute(null, sql, parameters.toArray())) {
            return done.affectedRows() == 0 ? Status.NOT_FOUND : Status.OK;
          }
        });
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    return execute(
        () -> {
          Tuple row = groups(table).complete(key, StoredRecord.row(key, values));
          return settings.batchSize() == 1 ? write(table, List.of(row)) : addToBatch(table, row);
        });
  }

  @Override
  public Status delete(String table, String key) {
    return execute(() -> view(table).delete(null, key(table, key)) ? Status.OK : Status.NOT_FOUND);
  }

  private interface Operation {
    Status run();
  }

  private static Status execute(Operation operation) {
    try {
      return operation.run();
    } catch (IgniteException e) {
      if (isTimeout(e)) {
        ERRORS.report("time-out", "no answer within " + IgniteSettings.TIMEOUT.name());
        return Status.SERVICE_UNAVAILABLE;
      }
      ERRORS.report(e.codeAsString(), e.getMessage());
      return PASSING.contains(e.groupCode()) ? Status.SERVICE_UNAVAILABLE : Status.ERROR;
    }
  }

  /** Ignite's client gives its own time-outs the code of an internal error, and no message. */
  private static boolean isTimeout(Throwable error) {
    for (Throwable each = error; each != null; each = each.getCause()) {
      if (each instanceof TimeoutException) {
        return true;
      }
    }
    return false;
  }

  private IgniteClient client() {
    return shared.get();
  }

  private RecordView<Tuple> view(String table) {
    return views.computeIfAbsent(table, this::openView);
  }

  /**
   * A statement that only reads takes a snapshot, which has all that this client knows of, and of
   * others may lack the last second. A read of any key lets it know of all that was done before.
   */
  private RecordView<Tuple> openView(String name) {
    QualifiedName quoted = QualifiedName.fromSimple(Identifier.quote(name));
    Table table = client().tables().table(quoted);
    if (table == null) {
      throw new TableNotFoundException(quoted);
    }
    RecordView<Tuple> view = table.recordView();
    view.contains(null, key(name, ""));
    return view;
  }

  private Tuple key(String table, String key) {
    return groups(table).complete(key, StoredRecord.key(key));
  }

  private KeyGroups groups(String table) {
    return settings.shares() == Placement.Shares.HASH
        ? KeyGroups.NONE
        : groups.computeIfAbsent(table, name -> GroupTable.read(client(), name));
  }

  private Status addToBatch(String table, Tuple row) {
    if (!table.equals(batchTable)) {
      flush();
      batchTable = table;
    }
    batch.add(row);
    return batch.size() < settings.batchSize() ? Status.BATCHED_OK : flush();
  }

  private Status flush() {
    if (batch.isEmpty()) {
      return Status.OK;
    }
    List<Tuple> sent = List.copyOf(batch);
    batch.clear();
    lost += sent.size();
    Status status = write(batchTable, sent);
    if (status.isOk()) {
      lost -= sent.size();
    }
    return status;
  }

  private Status write(String table, List<Tuple> rows) {
    RecordView<Tuple> view = view(table);
    if (settings.upsert()) {
      view.upsertAll(null, rows);
      return Status.OK;
    }
    int duplicates = view.insertAll(null, rows).size();
    if (duplicates == 0) {
      return Status.OK;
    }
    ERRORS.report("ERROR", duplicates + " of " + rows.size() + " keys exist in " + table);
    return Status.ERROR;
  }
}
