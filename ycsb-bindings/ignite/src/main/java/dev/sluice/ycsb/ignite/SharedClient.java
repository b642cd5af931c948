package dev.sluice.ycsb.ignite;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.ignite.client.IgniteClient;

/**
 * One client for all threads of a process that ask for the same cluster: it has a connection to
 * each node, knows which of them has which key, and is meant to be shared.
 */
final class SharedClient {
  private record Target(List<String> addresses, int timeoutMilliseconds) {}

  private static final Map<Target, SharedClient> OPEN = new HashMap<>();

  private final Target target;
  private final IgniteClient client;
  private int users;

  private SharedClient(Target target, IgniteClient client) {
    this.target = target;
    this.client = client;
  }

  /** The client of these settings, connected by the first to ask. */
  static SharedClient acquire(IgniteSettings settings) {
    Target target = new Target(settings.addresses(), settings.timeoutMilliseconds());
    synchronized (OPEN) {
      SharedClient shared = OPEN.get(target);
      if (shared == null) {
        shared = new SharedClient(target, Connector.connect(settings));
        OPEN.put(target, shared);
      }
      shared.users++;
      return shared;
    }
  }

  IgniteClient get() {
    return client;
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
    client.close();
  }
}
