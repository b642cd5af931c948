package dev.sluice.ycsb.hbase;

import dev.sluice.ycsb.ErrorLog;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Scan;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * A YCSB client of HBase: each thread waits for its operation, all threads share one connection.
 *
 * <p>A record is a row: each field is a column of its name, in the family that {@code
 * hbase.families} gives it.
 *
 * <ul>
 *   <li>{@code NOT_FOUND}: a read found nothing. Updates, like inserts, write what they are given.
 *   <li>{@code BAD_REQUEST}: a key or value that HBase cannot hold; nothing was sent.
 *   <li>{@code SERVICE_UNAVAILABLE}: the cluster did not do it in time; a write may have been done.
 *   <li>{@code ERROR}: the server refused the operation.
 *   <li>{@code BATCHED_OK}: kept for a later insert or the end (only with a batch size above 1).
 * </ul>
 */
public final class HBaseClient extends DB {
  static final ErrorLog ERRORS = new ErrorLog("hbase");
  private HBaseSettings settings;
  private SharedConnection connection;
  private final Map<String, AsyncTable<?>> tables = new HashMap<>();
  private final List<Put> batch = new ArrayList<>();
  private AsyncTable<?> batchTable;
  private int lost;

  @Override
  public void init() throws DBException {
    settings = HBaseSettings.of(getProperties());
    try {
      connection = SharedConnection.acquire(settings);
    } catch (IOException e) {
      throw new DBException(e.getMessage(), e);
    }
  }

  @Override
  public void cleanup() throws DBException {
    if (connection == null) {
      return;
    }
    execute(this::flush);
    connection.release();
    connection = null;
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
          Get get = new Get(row(key));
          if (fields == null) {
            readFamilies().forEach(get::addFamily);
          } else {
            fields.forEach(field -> get.addColumn(family(field), bytes(field)));
          }
          Result found = Cluster.await(table(table).get(get));
          copyRow(found, result);
          return found.isEmpty() ? Status.NOT_FOUND : Status.OK;
        });
  }

  @Override
  public Status scan(
      String table,
      String startkey,
      int recordcount,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    if (recordcount == 0) {
      // To HBase a limit of 0 is none.
      return Status.OK;
    }
    return execute(
        () -> {
          Scan scan = new Scan().withStartRow(row(startkey)).setLimit(recordcount);
          int caching = settings.scanCaching();
          scan.setCaching(caching == 0 ? recordcount : Math.min(caching, recordcount));
          scan.setCacheBlocks(settings.scanCacheBlocks());
          if (fields == null) {
            readFamilies().forEach(scan::addFamily);
          } else {
            fields.forEach(field -> scan.addColumn(family(field), bytes(field)));
          }
          for (Result found : Cluster.await(table(table).scanAll(scan))) {
            HashMap<String, ByteIterator> row = new HashMap<>();
            copyRow(found, row);
            result.add(row);
          }
          return Status.OK;
        });
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    return execute(
        () -> {
          Cluster.await(table(table).put(put(key, values)));
          return Status.OK;
        });
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    if (settings.batchSize() == 1) {
      return update(table, key, values);
    }
    return execute(() -> addToBatch(table(table), put(key, values)));
  }

  @Override
  public Status delete(String table, String key) {
    return execute(
        () -> {
          Delete delete = new Delete(row(key)).setDurability(settings.durability());
          Cluster.await(table(table).delete(delete));
          return Status.OK;
        });
  }

  private interface Operation {
    Status run() throws IOException, InterruptedException;
  }

  private static Status execute(Operation operation) {
    try {
      return operation.run();
    } catch (IllegalArgumentException e) {
      ERRORS.report(e);
      return Status.BAD_REQUEST;
    } catch (IOException e) {
      ERRORS.report(e);
      return isRefusal(e) ? Status.ERROR : Status.SERVICE_UNAVAILABLE;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Status.SERVICE_UNAVAILABLE;
    }
  }

  /** A batch says that its attempts are used up, whatever the reason; the reason is the cause. */
  private static boolean isRefusal(Throwable error) {
    for (Throwable each = error; each != null; each = each.getCause()) {
      if (each instanceof DoNotRetryIOException) {
        return true;
      }
    }
    return false;
  }

  private Status addToBatch(AsyncTable<?> table, Put put) throws IOException, InterruptedException {
    if (batchTable != table) {
      flush();
      batchTable = table;
    }
    batch.add(put);
    return batch.size() < settings.batchSize() ? Status.BATCHED_OK : flush();
  }

  private Status flush() throws IOException, InterruptedException {
    if (batch.isEmpty()) {
      return Status.OK;
    }
    List<Put> sent = List.copyOf(batch);
    batch.clear();
    lost += sent.size();
    Cluster.await(batchTable.putAll(sent));
    lost -= sent.size();
    return Status.OK;
  }

  private AsyncTable<?> table(String name) {
    return tables.computeIfAbsent(name, n -> connection.get().getTable(Cluster.tableName(n)));
  }

  private Put put(String key, Map<String, ByteIterator> values) {
    Put put = new Put(row(key)).setDurability(settings.durability());
    values.forEach(
        (field, value) -> put.addColumn(family(field), bytes(field), FieldValue.bytes(value)));
    return put;
  }

  private byte[] family(String field) {
    return settings.families().of(field);
  }

  /** Empty for all. */
  private List<byte[]> readFamilies() {
    return settings.readFamilies().stream().map(HBaseClient::bytes).toList();
  }

  private static byte[] row(String key) {
    return bytes(key);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static void copyRow(Result found, Map<String, ByteIterator> row) {
    for (Cell cell : found.rawCells()) {
      String field = new String(CellUtil.cloneQualifier(cell), StandardCharsets.UTF_8);
      row.put(field, new ByteArrayByteIterator(CellUtil.cloneValue(cell)));
    }
  }
}
