package dev.sluice.ycsb.hbase;

import dev.sluice.ycsb.SettingException;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.ConnectionFactory;

/** Opens connections and waits for answers of HBase's asynchronous client. */
final class Cluster {
  private Cluster() {}

  /**
   * Opens a connection.
   *
   * @throws IOException when the cluster does not answer in time; the message says what to do
   */
  static AsyncConnection connect(HBaseSettings settings) throws IOException {
    CompletableFuture<AsyncConnection> connecting =
        ConnectionFactory.createAsyncConnection(settings.configuration());
    try {
      return connecting.get(settings.timeoutMilliseconds(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException | ExecutionException e) {
      // One that still comes is of no use to anybody.
      connecting.thenAccept(Cluster::close);
      throw new IOException(cannotConnect(settings, e), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while connecting", e);
    }
  }

  /** Ends a connection; what goes wrong then hurts nobody. */
  static void close(AsyncConnection connection) {
    try {
      connection.close();
    } catch (IOException e) {
      HBaseClient.ERRORS.report(e);
    }
  }

  /**
   * Waits for an answer.
   *
   * @throws IOException what the client or the server says
   */
  static <T> T await(CompletableFuture<T> answer) throws IOException, InterruptedException {
    try {
      return answer.get();
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException io ? io : new IOException(e.getCause());
    }
  }

  /**
   * A table's name for the client.
   *
   * @throws SettingException when HBase does not accept it
   */
  static TableName tableName(String name) {
    try {
      return TableName.valueOf(name);
    } catch (IllegalArgumentException e) {
      throw new SettingException(
          "'" + name + "' is not accepted as the name of a table: " + e.getMessage());
    }
  }

  private static String cannotConnect(HBaseSettings settings, Exception e) {
    String why =
        e instanceof TimeoutException
            ? "no answer within " + settings.timeoutMilliseconds() + " ms"
            : String.valueOf(e.getCause().getMessage());
    return "cannot connect to HBase by ZooKeeper at "
        + settings.quorum()
        + ", node "
        + settings.znode()
        + ": "
        + why
        + "; check that ZooKeeper and the HBase master run and that "
        + HBaseSettings.QUORUM.name()
        + " names them";
  }
}
