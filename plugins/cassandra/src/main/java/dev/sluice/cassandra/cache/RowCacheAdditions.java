package dev.sluice.cassandra.cache;

import dev.sluice.cassandra.Tables;
import dev.sluice.local.lease.Aspect;
import dev.sluice.local.lease.Lease;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import dev.sluice.local.protocol.FigureName;
import dev.sluice.local.protocol.Refusal;
import dev.sluice.local.protocol.Snapshot;
import java.util.function.Predicate;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.metrics.TableMetrics;

/**
 * By how much the row cache is larger for the sake of tables. It is one cache, in which rows of all
 * tables push each other out, so that what several tables have been given adds up.
 */
final class RowCacheAdditions {
  // So that the figures of all tables fit into a snapshot, which has at most 1000.
  private static final int MOST_TABLES = 100;

  private final LeaseStore leases;

  RowCacheAdditions(LeaseStore leases) {
    this.leases = leases;
  }

  double bytes() {
    return bytes(scope -> true);
  }

  private double bytes(Predicate<Scope> isCounted) {
    return leases.all(CachePart.KIND).stream()
        .filter(lease -> lease.setting().name() == SettingName.ADDED_BYTES)
        .filter(lease -> isCounted.test(lease.scope()))
        .map(Lease::setting)
        .mapToDouble(setting -> setting.number().doubleValue())
        .sum();
  }

  /** Refuses what no row of the table would be in, and what is more than may be added. */
  void check(Scope scope, Setting setting, double mostBytes) throws Refusal {
    ColumnFamilyStore table =
        Tables.find(scope)
            .orElseThrow(
                () ->
                    Refusal.invalid(
                        "\"" + scope.text() + "\" is no table, and shares no cache",
                        "Name a table; the capacities of caches are set by reserved_bytes."));
    if (!cachesRows(table)) {
      throw Refusal.refused(
          "rows of " + scope.text() + " are not cached",
          "ALTER TABLE %s WITH caching = {'keys': 'ALL', 'rows_per_partition': 'ALL'}"
              .formatted(scope.text()));
    }
    double left = Math.max(0, mostBytes - bytes(other -> !other.equals(scope)));
    if (setting.number() > left) {
      throw Refusal.refused(
          "the row cache would be larger than it may be", "Order %.0f or less.".formatted(left));
    }
  }

  private static boolean cachesRows(ColumnFamilyStore table) {
    return table.metadata().params.caching.cacheRows();
  }

  /** Figures of the tables whose rows are cached. */
  void report(Snapshot.Builder snapshot) {
    Tables.all().stream()
        .filter(RowCacheAdditions::cachesRows)
        .limit(MOST_TABLES)
        .forEach(table -> report(snapshot, table));
  }

  private void report(Snapshot.Builder snapshot, ColumnFamilyStore table) {
    Scope scope = Tables.scopeOf(table);
    TableMetrics metrics = table.metric;
    // What is cached and does not answer, since it has too few rows, is read all the same.
    long misses = metrics.rowCacheMiss.getCount() + metrics.rowCacheHitOutOfRange.getCount();
    snapshot.figure(figureName(scope, "hits_total"), metrics.rowCacheHit.getCount());
    snapshot.figure(figureName(scope, "misses_total"), misses);
    leases
        .find(CachePart.KIND, Aspect.RESERVED_BYTES, scope)
        .ifPresent(
            lease ->
                snapshot.figure(
                    figureName(scope, "added_bytes"), lease.setting().number().doubleValue()));
  }

  private static String figureName(Scope scope, String suffix) {
    return FigureName.of(CachePart.KIND, scope.text(), suffix);
  }
}
