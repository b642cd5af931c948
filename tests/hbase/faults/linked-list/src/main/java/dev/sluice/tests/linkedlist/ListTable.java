package dev.sluice.tests.linkedlist;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;

/** The list as a table of HBase. What fails is tried again for as long as the patience lasts. */
final class ListTable implements RowSink, AutoCloseable {
  private static final byte[] FAMILY = bytes("l");
  private static final byte[] PREVIOUS = bytes("p");
  private static final byte[] FILLER = bytes("f");
  private static final int CALL_MILLISECONDS = 20_000;
  private static final int ROWS_PER_CALL = 1000;

  private final AsyncConnection connection;
  private final AsyncTable<?> table;
  private final int patienceSeconds;

  private ListTable(AsyncConnection connection, String name, int patienceSeconds) {
    this.connection = connection;
    this.table = connection.getTable(TableName.valueOf(name));
    this.patienceSeconds = patienceSeconds;
  }

  /** Opens a table of the cluster that a hbase-site.xml leads to. */
  static ListTable open(Path site, String name, int patienceSeconds)
      throws IOException, InterruptedException {
    Configuration configuration = HBaseConfiguration.create();
    configuration.addResource(new org.apache.hadoop.fs.Path(site.toUri()));
    int patienceMilliseconds = Math.toIntExact(TimeUnit.SECONDS.toMillis(patienceSeconds));
    configuration.setInt(HConstants.HBASE_CLIENT_OPERATION_TIMEOUT, patienceMilliseconds);
    configuration.setInt(HConstants.HBASE_CLIENT_META_OPERATION_TIMEOUT, patienceMilliseconds);
    configuration.setInt(HConstants.HBASE_CLIENT_SCANNER_TIMEOUT_PERIOD, patienceMilliseconds);
    // A call that a dead server will never answer is given up before the patience is.
    configuration.setInt(HConstants.HBASE_RPC_TIMEOUT_KEY, CALL_MILLISECONDS);
    // The time alone is the limit.
    configuration.setInt(HConstants.HBASE_CLIENT_RETRIES_NUMBER, Integer.MAX_VALUE);
    AsyncConnection connection =
        await(ConnectionFactory.createAsyncConnection(configuration), patienceSeconds);
    return new ListTable(connection, name, patienceSeconds);
  }

  @Override
  public void write(List<LinkedRow> rows) throws IOException, InterruptedException {
    // HBase's client has given up before this does.
    await(table.putAll(rows.stream().map(ListTable::put).toList()), 2 * patienceSeconds);
  }

  private static Put put(LinkedRow row) {
    Put put = new Put(row.node().key());
    row.previous().ifPresent(previous -> put.addColumn(FAMILY, PREVIOUS, previous.key()));
    return put.addColumn(FAMILY, FILLER, Filler.of(row.node(), row.fillerBytes()));
  }

  /** Adds every row of a range to a tally. */
  void scan(KeyRange range, Tally tally) throws IOException {
    Scan scan =
        new Scan()
            .withStartRow(range.start())
            .withStopRow(range.stop())
            .addFamily(FAMILY)
            .setCaching(ROWS_PER_CALL)
            .setCacheBlocks(false);
    try (ResultScanner results = table.getScanner(scan)) {
      for (Result row = results.next(); row != null; row = results.next()) {
        tally.add(row.getRow(), row.getValue(FAMILY, PREVIOUS), row.getValue(FAMILY, FILLER));
      }
    }
  }

  @Override
  public void close() throws IOException {
    connection.close();
  }

  private static <T> T await(CompletableFuture<T> answer, int seconds)
      throws IOException, InterruptedException {
    try {
      return answer.get(seconds, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException io ? io : new IOException(e.getCause());
    } catch (TimeoutException e) {
      throw new IOException("no answer within " + seconds + " s: is the cluster there?", e);
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
