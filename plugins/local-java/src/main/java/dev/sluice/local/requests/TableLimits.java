package dev.sluice.local.requests;

import dev.sluice.local.lease.Aspect;
import dev.sluice.local.lease.Lease;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.protocol.FigureName;
import dev.sluice.local.protocol.Snapshot;
import dev.sluice.local.protocol.SnapshotReporter;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.LongSupplier;

/** Which requests for rows are taken: of each table with a lease as many as it says. */
public final class TableLimits implements SnapshotReporter {
  /** What the protocol calls requests of clients. */
  public static final String KIND = "requests";

  // So that the figures of all tables fit into a snapshot, which has at most 1000.
  private static final int MAX_SHOWN_TABLES = 100;

  /** What was asked for of a table since it has a lease, in rows. */
  public record Count(long taken, long refused) {}

  private static final class Limited {
    private final RequestBudget budget;
    private long taken;
    private long refused;

    private Limited(RequestBudget budget) {
      this.budget = budget;
    }
  }

  private final LeaseStore leases;
  private final LongSupplier nanoTime;
  // Guarded by this.
  private final Map<String, Limited> tables = new HashMap<>();
  private volatile boolean hasLeases;

  /** Those that leases say. */
  public TableLimits(LeaseStore leases, LongSupplier nanoTime) {
    this.leases = leases;
    this.nanoTime = nanoTime;
    leases.addListener(this::look);
    look();
  }

  private synchronized void look() {
    tables.keySet().removeIf(table -> limitOf(table).isEmpty());
    hasLeases = leases.all(KIND).stream().anyMatch(lease -> !lease.scope().equals(Scope.SERVER));
  }

  /** Whether any table has a limit: what a request has to pay for without one. */
  public boolean areThere() {
    return hasLeases;
  }

  private Optional<Double> limitOf(String table) {
    return leases
        .find(KIND, Aspect.PACE, Scope.ofTable(table))
        .map(Lease::setting)
        .map(setting -> setting.number().doubleValue());
  }

  /**
   * Takes a request for so many rows of each of these tables, all of it or nothing.
   *
   * @return 0, or after how many nanoseconds its client may ask again
   */
  public synchronized long take(Map<String, Integer> rows) {
    Map<String, Integer> taken = new HashMap<>();
    for (Map.Entry<String, Integer> each : rows.entrySet()) {
      long waitNanos = take(each.getKey(), each.getValue());
      if (waitNanos > 0) {
        taken.forEach(this::giveBack);
        return waitNanos;
      }
      taken.put(each.getKey(), each.getValue());
    }
    return 0;
  }

  private long take(String table, int count) {
    Optional<Double> limit = limitOf(table);
    if (limit.isEmpty()) {
      return 0;
    }
    long now = nanoTime.getAsLong();
    Limited limited =
        tables.computeIfAbsent(table, key -> new Limited(new RequestBudget(limit.get(), now)));
    limited.budget.advance(limit.get(), now);
    long waitNanos = limited.budget.take(count);
    if (waitNanos > 0) {
      limited.refused += count;
    } else {
      limited.taken += count;
    }
    return waitNanos;
  }

  private void giveBack(String table, int count) {
    Limited limited = tables.get(table);
    if (limited != null) {
      limited.budget.giveBack(count);
      limited.taken -= count;
      limited.refused += count;
    }
  }

  /** What was asked for of the tables that have leases. */
  public synchronized Map<String, Count> counts() {
    Map<String, Count> counts = new TreeMap<>();
    tables.forEach((table, each) -> counts.put(table, new Count(each.taken, each.refused)));
    return counts;
  }

  @Override
  public void report(Snapshot.Builder snapshot) {
    counts().entrySet().stream()
        .limit(MAX_SHOWN_TABLES)
        .forEach(each -> report(snapshot, each.getKey(), each.getValue()));
  }

  private static void report(Snapshot.Builder snapshot, String table, Count count) {
    snapshot.figure(FigureName.of(KIND, table, "taken_total"), count.taken());
    snapshot.figure(FigureName.of(KIND, table, "refused_total"), count.refused());
  }
}
