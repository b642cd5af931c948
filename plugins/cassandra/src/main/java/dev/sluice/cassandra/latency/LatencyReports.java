package dev.sluice.cassandra.latency;

import dev.sluice.cassandra.Tables;
import dev.sluice.local.protocol.FigureName;
import dev.sluice.local.protocol.Snapshot;
import dev.sluice.local.protocol.SnapshotReporter;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.metrics.ClientRequestMetrics;
import org.apache.cassandra.metrics.ClientRequestsMetricsHolder;
import org.apache.cassandra.metrics.DecayingEstimatedHistogramReservoir;
import org.apache.cassandra.metrics.LatencyMetrics;
import org.apache.cassandra.service.reads.range.RangeCommandIterator;

/**
 * Latency of requests that this node coordinates, by classes and intervals of a second, of all of
 * them and of each table; and of reads and writes of each table that it has done itself. All are
 * differences of the histograms that the node keeps anyway.
 */
public final class LatencyReports implements SnapshotReporter {
  private static final double NANOS_PER_SECOND = 1e9;
  private static final long INTERVAL_NANOS = 1_000_000_000;
  private static final int MOST_INTERVALS = 3;
  private static final int MOST_TABLES = 100;

  private final Map<String, List<ClientRequestMetrics>> classes =
      Map.of(
          "read",
          List.of(
              ClientRequestsMetricsHolder.readMetrics,
              ClientRequestsMetricsHolder.casReadMetrics,
              RangeCommandIterator.rangeMetrics),
          "write",
          List.of(
              ClientRequestsMetricsHolder.writeMetrics,
              ClientRequestsMetricsHolder.casWriteMetrics));

  private Map<String, Totals> before = totals();
  private Map<String, long[]> tablesBefore = tables();
  private final TableLatencies coordinated = new TableLatencies();
  private final Deque<Interval> intervals = new ArrayDeque<>();
  private Map<String, long[]> tableCounts = Map.of();
  private long startNanos = System.nanoTime();

  /** What was counted until a moment. */
  private record Totals(long[] counts, long microseconds, long errors) {
    static final Totals NONE = new Totals(new long[0], 0, 0);

    Totals plus(ClientRequestMetrics metrics) {
      return new Totals(
          BucketCounts.sum(counts, values(metrics)),
          microseconds + metrics.totalLatency.getCount(),
          errors
              + metrics.timeouts.getCount()
              + metrics.unavailables.getCount()
              + metrics.failures.getCount());
    }

    Totals since(Totals earlier) {
      return new Totals(
          BucketCounts.since(counts, earlier.counts),
          microseconds - earlier.microseconds,
          errors - earlier.errors);
    }
  }

  private record Interval(long endNanos, double seconds, Map<String, Totals> classes) {}

  private static long[] values(LatencyMetrics metrics) {
    return metrics.latency.getSnapshot().getValues();
  }

  private Map<String, Totals> totals() {
    Map<String, Totals> totals = new HashMap<>();
    classes.forEach(
        (name, each) -> {
          Totals sum = Totals.NONE;
          for (ClientRequestMetrics metrics : each) {
            sum = sum.plus(metrics);
          }
          totals.put(name, sum);
        });
    return totals;
  }

  private static Map<String, long[]> tables() {
    Map<String, long[]> counts = new HashMap<>();
    for (ColumnFamilyStore table : Tables.all().stream().limit(MOST_TABLES).toList()) {
      String name = Tables.scopeOf(table).text();
      counts.put("read/" + name, values(table.metric.readLatency));
      counts.put("write/" + name, values(table.metric.writeLatency));
    }
    return counts;
  }

  /** Ends the interval if it is time. */
  public synchronized void tick() {
    long now = System.nanoTime();
    if (now - startNanos < INTERVAL_NANOS) {
      return;
    }
    Map<String, Totals> totals = totals();
    Map<String, Totals> differences = new HashMap<>();
    totals.forEach((name, each) -> differences.put(name, each.since(before.get(name))));
    intervals.addLast(new Interval(now, (now - startNanos) / NANOS_PER_SECOND, differences));
    if (intervals.size() > MOST_INTERVALS) {
      intervals.removeFirst();
    }
    Map<String, long[]> tables = tables();
    coordinated.end(now, (now - startNanos) / NANOS_PER_SECOND);
    before = totals;
    tableCounts = BucketCounts.since(tables, tablesBefore);
    tablesBefore = tables;
    startNanos = now;
  }

  @Override
  public synchronized void report(Snapshot.Builder snapshot) {
    long now = System.nanoTime();
    for (Interval interval : new ArrayList<>(intervals)) {
      double age = (now - interval.endNanos()) / NANOS_PER_SECOND;
      interval
          .classes()
          .forEach((name, each) -> snapshot.latency(latency(name, age, interval.seconds(), each)));
    }
    coordinated.report(snapshot, now);
    tableCounts.forEach((name, counts) -> reportTable(snapshot, name, counts));
  }

  private static Snapshot.Latency latency(
      String name, double ageSeconds, double seconds, Totals totals) {
    BucketCounts counts = bucketCounts(totals.counts());
    long count = counts.total();
    double mean = count == 0 ? 0 : Math.max(0, totals.microseconds()) * 1e-6 / count;
    return new Snapshot.Latency(
        name,
        ageSeconds,
        seconds,
        count,
        Math.max(0, totals.errors()),
        mean,
        counts.quantileSeconds(0.5),
        counts.quantileSeconds(0.99),
        counts.quantileSeconds(0.999),
        counts.maxSeconds());
  }

  private static void reportTable(Snapshot.Builder snapshot, String name, long[] counts) {
    int separator = name.indexOf('/');
    String operation = name.substring(0, separator);
    String table = name.substring(separator + 1);
    BucketCounts buckets = bucketCounts(counts);
    snapshot.figure(FigureName.of(operation, table, "operations"), buckets.total());
    snapshot.figure(FigureName.of(operation, table, "p99_seconds"), buckets.quantileSeconds(0.99));
  }

  static BucketCounts bucketCounts(long[] counts) {
    return new BucketCounts(
        counts, DecayingEstimatedHistogramReservoir.DEFAULT_WITHOUT_ZERO_BUCKET_OFFSETS);
  }
}
