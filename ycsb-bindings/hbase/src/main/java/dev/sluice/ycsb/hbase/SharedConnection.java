package dev.sluice.ycsb.hbase;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.hbase.client.AsyncConnection;

/**
 * One connection for all threads of a process that ask for the same cluster, as HBase means it: it
 * has the sockets, the cache of region locations and the threads that serve them.
 */
final class SharedConnection {
  private record Target(String quorum, String znode, String site, int timeoutMilliseconds) {}

  private static final Map<Target, SharedConnection> OPEN = new HashMap<>();

  private final Target target;
  private final AsyncConnection connection;
  private int users;

  private SharedConnection(Target target, AsyncConnection connection) {
    this.target = target;
    this.connection = connection;
  }

  /** The connection of these settings, opened by the first to ask. */
  static SharedConnection acquire(HBaseSettings settings) throws IOException {
    Target target =
        new Target(
            settings.quorum(), settings.znode(), settings.site(), settings.timeoutMilliseconds());
    synchronized (OPEN) {
      SharedConnection shared = OPEN.get(target);
      if (shared == null) {
        shared = new SharedConnection(target, Cluster.connect(settings));
        OPEN.put(target, shared);
      }
      shared.users++;
      return shared;
    }
  }

  AsyncConnection get() {
    return connection;
  }

  /** Gives it back; the last one closes it. */
  void release() {
    synchronized (OPEN) {
      users--;
      if (users > 0) {
        return;
      }
      OPEN.remove(target);
    }
    Cluster.close(connection);
  }
}
