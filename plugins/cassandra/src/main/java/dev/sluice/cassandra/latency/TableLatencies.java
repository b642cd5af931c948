package dev.sluice.cassandra.latency;

import com.codahale.metrics.Timer;
import dev.sluice.cassandra.Tables;
import dev.sluice.local.protocol.Snapshot;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.cassandra.db.ColumnFamilyStore;

/**
 * Latency of requests that this node coordinates, of each table, over the last intervals. Those of
 * which there were most are kept, so that a snapshot stays small.
 */
final class TableLatencies {
  private static final double NANOS_PER_SECOND = 1e9;
  private static final int MOST_INTERVALS = 3;
  private static final int MOST_TABLES = 50;

  /** What a timer had counted; its buckets are looked at only where that has changed. */
  private record Seen(long count, long[] buckets) {
    static final Seen NOTHING = new Seen(0, new long[0]);

    static Seen of(Timer timer, Seen before) {
      long count = timer.getCount();
      return count == before.count ? before : new Seen(count, timer.getSnapshot().getValues());
    }

    long[] since(Seen before) {
      return this == before ? new long[0] : BucketCounts.since(buckets, before.buckets);
    }
  }

  /** The timers of a table that coordinators of its requests keep. */
  private record Table(Seen reads, Seen scans, Seen writes) {
    static final Table NOTHING = new Table(Seen.NOTHING, Seen.NOTHING, Seen.NOTHING);

    static Table of(ColumnFamilyStore table, Table before) {
      return new Table(
          Seen.of(table.metric.coordinatorReadLatency, before.reads),
          Seen.of(table.metric.coordinatorScanLatency, before.scans),
          Seen.of(table.metric.coordinatorWriteLatency, before.writes));
    }

    Counts since(String name, Table before) {
      return new Counts(
          name,
          BucketCounts.sum(reads.since(before.reads), scans.since(before.scans)),
          writes.since(before.writes));
    }
  }

  /** What a table was asked for in an interval. */
  private record Counts(String table, long[] reads, long[] writes) {
    long total() {
      return LatencyReports.bucketCounts(reads).total()
          + LatencyReports.bucketCounts(writes).total();
    }
  }

  private record Interval(long endNanos, double seconds, List<Counts> tables) {}

  private Map<String, Table> before = look(Map.of());
  private final Deque<Interval> intervals = new ArrayDeque<>();

  private static Map<String, Table> look(Map<String, Table> before) {
    Map<String, Table> seen = new HashMap<>();
    for (ColumnFamilyStore table : Tables.all()) {
      String name = Tables.scopeOf(table).text();
      seen.put(name, Table.of(table, before.getOrDefault(name, Table.NOTHING)));
    }
    return seen;
  }

  /** Ends an interval. */
  void end(long nowNanos, double seconds) {
    Map<String, Table> seen = look(before);
    List<Counts> tables = new ArrayList<>();
    seen.forEach(
        (name, table) -> tables.add(table.since(name, before.getOrDefault(name, Table.NOTHING))));
    tables.sort(Comparator.comparingLong(Counts::total).reversed().thenComparing(Counts::table));
    intervals.addLast(
        new Interval(nowNanos, seconds, List.copyOf(tables.subList(0, mostOf(tables)))));
    if (intervals.size() > MOST_INTERVALS) {
      intervals.removeFirst();
    }
    before = seen;
  }

  private static int mostOf(List<Counts> tables) {
    return Math.min(tables.size(), MOST_TABLES);
  }

  /** Shows a table without requests as well: it is known then that it had none. */
  void report(Snapshot.Builder snapshot, long nowNanos) {
    for (Interval interval : intervals) {
      double age = (nowNanos - interval.endNanos) / NANOS_PER_SECOND;
      for (Counts counts : interval.tables) {
        report(snapshot, counts.table, latency("read", age, interval.seconds, counts.reads));
        report(snapshot, counts.table, latency("write", age, interval.seconds, counts.writes));
      }
    }
  }

  private static void report(Snapshot.Builder snapshot, String table, Snapshot.Latency latency) {
    snapshot.scopeLatency(new Snapshot.ScopeLatency(table, latency));
  }

  /** Cassandra does not count what fails by table. */
  private static Snapshot.Latency latency(
      String name, double ageSeconds, double seconds, long[] buckets) {
    BucketCounts counts = LatencyReports.bucketCounts(buckets);
    return new Snapshot.Latency(
        name,
        ageSeconds,
        seconds,
        counts.total(),
        0,
        counts.meanSeconds(),
        counts.quantileSeconds(0.5),
        counts.quantileSeconds(0.99),
        counts.quantileSeconds(0.999),
        counts.maxSeconds());
  }
}
