package dev.sluice.ycsb.cassandra;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * One session for all threads of a process that ask for the same cluster: it has connections to
 * each node, knows which of them has which key, and is meant to be shared.
 */
final class SharedSession {
  private record Target(List<String> addresses, String datacenter, int timeoutMilliseconds) {}

  private static final Map<Target, SharedSession> OPEN = new HashMap<>();

  private final Target target;
  private final CqlSession session;
  private final Map<String, PreparedStatement> prepared = new ConcurrentHashMap<>();
  private int users;

  private SharedSession(Target target, CqlSession session) {
    this.target = target;
    this.session = session;
  }

  /** The session of these settings, opened by the first to ask. */
  static SharedSession acquire(CassandraSettings settings) {
    Target target =
        new Target(settings.addresses(), settings.datacenter(), settings.timeoutMilliseconds());
    synchronized (OPEN) {
      SharedSession shared = OPEN.get(target);
      if (shared == null) {
        shared = new SharedSession(target, Connector.connect(settings));
        OPEN.put(target, shared);
      }
      shared.users++;
      return shared;
    }
  }

  CqlSession get() {
    return session;
  }

  /** The statement, which the nodes parse once. */
  PreparedStatement prepare(String statement) {
    return prepared.computeIfAbsent(statement, session::prepare);
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
    session.close();
  }
}
