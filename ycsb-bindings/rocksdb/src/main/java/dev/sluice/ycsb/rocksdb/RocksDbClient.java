package dev.sluice.ycsb.rocksdb;

import dev.sluice.ycsb.ErrorLog;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.Status.Code;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * A YCSB client of RocksDB: all threads share the database, which is open in this process alone.
 *
 * <p>A record is a value, with all fields; the name of the table does not count, since the database
 * in {@code rocksdb.directory} is the table.
 *
 * <ul>
 *   <li>{@code NOT_FOUND}: no record has the key. An insert overwrites, a delete is always done.
 *   <li>{@code SERVICE_UNAVAILABLE}: RocksDB did not do it now, and might later.
 *   <li>{@code ERROR}: RocksDB refused, or cannot read or write its files.
 *   <li>{@code BATCHED_OK}: kept for a later insert or the end (only with a batch size above 1).
 * </ul>
 */
public final class RocksDbClient extends DB {
  private static final ErrorLog ERRORS = new ErrorLog("rocksdb");
  private RocksDbSettings settings;
  private SharedDatabase shared;
  private WriteOptions writeOptions;
  private WriteBatch batch;
  private int lost;

  @Override
  public void init() throws DBException {
    settings = RocksDbSettings.of(getProperties());
    try {
      shared = SharedDatabase.acquire(settings);
    } catch (RocksDBException e) {
      throw new DBException(
          "cannot open "
              + settings.directory()
              + ": "
              + e.getMessage()
              + "; one process at a time can, and each with the same family and options",
          e);
    }
    writeOptions = new WriteOptions().setSync(settings.sync());
    batch = new WriteBatch();
  }

  @Override
  public void cleanup() throws DBException {
    if (shared == null) {
      return;
    }
    execute(this::writeBatch);
    batch.close();
    writeOptions.close();
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
          byte[] value = get(key);
          if (value == null) {
            return Status.NOT_FOUND;
          }
          StoredRecord.copy(value, fields, result);
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
          try (RocksIterator at = shared.database().newIterator(shared.family())) {
            at.seek(bytes(startkey));
            for (int rows = 0; rows < recordcount && at.isValid(); rows++) {
              HashMap<String, ByteIterator> row = new HashMap<>();
              StoredRecord.copy(at.value(), fields, row);
              result.add(row);
              at.next();
            }
            // An iterator that has failed looks like one at its end.
            at.status();
            return Status.OK;
          }
        });
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    return execute(
        () -> {
          synchronized (shared.lockOf(key)) {
            byte[] value = get(key);
            if (value == null) {
              return Status.NOT_FOUND;
            }
            Map<String, byte[]> fields = StoredRecord.decode(value);
            fields.putAll(StoredRecord.fields(values));
            return put(key, StoredRecord.encode(fields));
          }
        });
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    return execute(
        () -> {
          byte[] value = StoredRecord.encode(StoredRecord.fields(values));
          if (settings.batchSize() > 1) {
            return addToBatch(key, value);
          }
          synchronized (shared.lockOf(key)) {
            return put(key, value);
          }
        });
  }

  @Override
  public Status delete(String table, String key) {
    return execute(
        () -> {
          synchronized (shared.lockOf(key)) {
            shared.database().delete(shared.family(), writeOptions, bytes(key));
            return Status.OK;
          }
        });
  }

  private interface Operation {
    Status run() throws RocksDBException;
  }

  private static Status execute(Operation operation) {
    try {
      return operation.run();
    } catch (RocksDBException e) {
      Code code = e.getStatus() == null ? Code.Undefined : e.getStatus().getCode();
      ERRORS.report(code.name(), e.getMessage());
      return switch (code) {
        case Aborted, Busy, Incomplete, ShutdownInProgress, TimedOut, TryAgain ->
            Status.SERVICE_UNAVAILABLE;
        default -> Status.ERROR;
      };
    }
  }

  private byte[] get(String key) throws RocksDBException {
    return shared.database().get(shared.family(), bytes(key));
  }

  private Status put(String key, byte[] value) throws RocksDBException {
    shared.database().put(shared.family(), writeOptions, bytes(key), value);
    return Status.OK;
  }

  private Status addToBatch(String key, byte[] value) throws RocksDBException {
    batch.put(shared.family(), bytes(key), value);
    return batch.count() < settings.batchSize() ? Status.BATCHED_OK : writeBatch();
  }

  private Status writeBatch() throws RocksDBException {
    int inserts = batch.count();
    if (inserts == 0) {
      return Status.OK;
    }
    lost += inserts;
    try {
      shared.database().write(writeOptions, batch);
    } finally {
      batch.clear();
    }
    lost -= inserts;
    return Status.OK;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
