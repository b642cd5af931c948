package dev.sluice.hbase.requests;

import dev.sluice.local.lease.Aspect;
import dev.sluice.local.lease.Lease;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.WeakHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.apache.hadoop.hbase.Abortable;
import org.apache.hbase.thirdparty.com.google.protobuf.Message;

/**
 * Which requests for rows a region server takes: of each table with a lease as many as it says. A
 * call that is beyond it is turned away before it waits for a handler, with the time after which
 * its client is to ask again, so that it costs the others next to nothing.
 */
public final class RequestLimits {
  static final String KIND = "requests";

  // In a mini cluster several servers share this class; each has its own leases.
  private static final Map<Abortable, RequestLimits> BY_SERVER = new WeakHashMap<>();

  /** What was asked for of a table since it has a lease, in rows. */
  record Count(long taken, long refused) {}

  private static final class Limited {
    private final RequestBudget budget;
    private long taken;
    private long refused;

    private Limited(RequestBudget budget) {
      this.budget = budget;
    }
  }

  private final LongSupplier nanoTime;
  // Guarded by this.
  private final Map<String, Limited> tables = new HashMap<>();
  private volatile boolean hasLeases;
  private LeaseStore leases;
  private RequestedTables requested;
  private BooleanSupplier isStopping;

  RequestLimits(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Those of a server, whose scheduler asks them; made at the first call. */
  public static RequestLimits of(Abortable server) {
    synchronized (BY_SERVER) {
      return BY_SERVER.computeIfAbsent(server, key -> new RequestLimits(System::nanoTime));
    }
  }

  /** Empty for a server whose scheduler does not ask. */
  static Optional<RequestLimits> find(Abortable server) {
    synchronized (BY_SERVER) {
      return Optional.ofNullable(BY_SERVER.get(server));
    }
  }

  /** Has it do what leases say; without, it takes everything. */
  synchronized void follow(LeaseStore from, RequestedTables askedFor, BooleanSupplier stopping) {
    leases = from;
    requested = askedFor;
    isStopping = stopping;
    leases.addListener(this::look);
    look();
  }

  private synchronized void look() {
    tables.keySet().removeIf(table -> limitOf(table).isEmpty());
    hasLeases = !leases.all(KIND).isEmpty();
  }

  private Optional<Double> limitOf(String table) {
    return leases
        .find(KIND, Aspect.PACE, Scope.ofTable(table))
        .map(Lease::setting)
        .map(setting -> setting.number().doubleValue());
  }

  /**
   * Takes a call, or turns it away.
   *
   * @return 0, or after how many nanoseconds its client may ask again
   */
  public long take(Message request) {
    // Without leases this is all that a request pays.
    return hasLeases ? takeLimited(request) : 0;
  }

  private synchronized long takeLimited(Message request) {
    if (isStopping.getAsBoolean()) {
      return 0;
    }
    Map<String, Integer> rows = requested.of(request);
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
  synchronized Map<String, Count> counts() {
    Map<String, Count> counts = new TreeMap<>();
    tables.forEach((table, each) -> counts.put(table, new Count(each.taken, each.refused)));
    return counts;
  }
}
