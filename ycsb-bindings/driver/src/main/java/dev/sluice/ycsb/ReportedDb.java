package dev.sluice.ycsb;

import dev.sluice.client.LatencyReporter;
import dev.sluice.client.Operation;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * A client of a store whose response times are reported to an agent: from when an operation was
 * due, where it had a due time, so that what came due while the store was slow has waited for it.
 */
final class ReportedDb extends DB {
  private final DB store;
  private final LatencyReporter reporter;
  private final LongSupplier dueNanos;
  private final UnaryOperator<String> scopeOfTable;
  private final Map<String, String> scopes = new HashMap<>();

  /**
   * Reports what a client does.
   *
   * @param dueNanos when the thread's operation was due, by {@link System#nanoTime}; 0 if it is not
   *     known
   */
  ReportedDb(
      DB store,
      LatencyReporter reporter,
      LongSupplier dueNanos,
      UnaryOperator<String> scopeOfTable) {
    this.store = store;
    this.reporter = reporter;
    this.dueNanos = dueNanos;
    this.scopeOfTable = scopeOfTable;
  }

  /** YCSB asks the client for its own options, such as which errors have latencies. */
  @Override
  public Properties getProperties() {
    return store.getProperties();
  }

  @Override
  public void setProperties(Properties properties) {
    store.setProperties(properties);
  }

  @Override
  public void init() throws DBException {
    store.init();
  }

  @Override
  public void cleanup() throws DBException {
    store.cleanup();
  }

  @Override
  public Status read(
      String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    return report(Operation.READ, table, () -> store.read(table, key, fields, result));
  }

  @Override
  public Status scan(
      String table,
      String startkey,
      int recordcount,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    return report(
        Operation.READ, table, () -> store.scan(table, startkey, recordcount, fields, result));
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    return report(Operation.WRITE, table, () -> store.update(table, key, values));
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    return report(Operation.WRITE, table, () -> store.insert(table, key, values));
  }

  @Override
  public Status delete(String table, String key) {
    return report(Operation.WRITE, table, () -> store.delete(table, key));
  }

  private Status report(Operation operation, String table, Supplier<Status> call) {
    String scope = scopes.computeIfAbsent(table, scopeOfTable);
    long now = System.nanoTime();
    long due = dueNanos.getAsLong();
    long begun = due == 0 ? now : Math.min(due, now);
    Status status = call.get();
    if (status.isOk() || status.equals(Status.NOT_FOUND)) {
      // One that is kept for a later batch was not asked of the store yet.
      if (!status.equals(Status.BATCHED_OK)) {
        reporter.succeeded(operation, scope, System.nanoTime() - begun);
      }
      return status;
    }
    reporter.failed(operation, scope);
    return status;
  }
}
