package dev.sluice.hbase.latency;

import dev.sluice.hbase.regionserver.PluginPart;
import dev.sluice.hbase.regionserver.RegionServerPlugin;
import dev.sluice.local.plugin.ConfiguredNumber;
import dev.sluice.local.protocol.Snapshot;
import dev.sluice.local.protocol.SnapshotReporter;
import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import org.apache.hadoop.conf.Configuration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Ends the intervals in which requests are timed, and shows them in snapshots. */
public final class LatencyReports implements PluginPart, SnapshotReporter {
  static final String INTERVAL_KEY = "sluice.latency.interval.seconds";
  private static final double DEFAULT_INTERVAL_SECONDS = 1;
  private static final double LEAST_INTERVAL_SECONDS = 0.1;
  private static final double MOST_INTERVAL_SECONDS = 600;
  private static final double NANOS_PER_SECOND = 1e9;

  private static final Logger LOG = LoggerFactory.getLogger(LatencyReports.class);

  private OperationLatencies latencies;
  private long intervalNanos;

  /** Shows nothing where requests are not timed. */
  @Override
  public void attach(RegionServerPlugin plugin) {
    OperationLatencies found = OperationLatencies.find(plugin.services()).orElse(null);
    if (found == null) {
      LOG.info(
          "requests are not timed: set hbase.region.server.rpc.scheduler.factory.class to {}",
          TimingSchedulerFactory.class.getName());
      return;
    }
    attach(found, plugin.services().getConfiguration());
    plugin.registerReporter(this);
  }

  void attach(OperationLatencies from, Configuration conf) {
    intervalNanos = (long) (intervalSeconds(conf) * NANOS_PER_SECOND);
    latencies = from;
  }

  private static double intervalSeconds(Configuration conf) {
    String text = conf.get(INTERVAL_KEY);
    if (text == null) {
      return DEFAULT_INTERVAL_SECONDS;
    }
    OptionalDouble seconds =
        ConfiguredNumber.parse(text, LEAST_INTERVAL_SECONDS, MOST_INTERVAL_SECONDS);
    if (seconds.isEmpty()) {
      LOG.error(
          "{} is \"{}\": {} is taken; set it to a number of seconds from {} to {}",
          INTERVAL_KEY,
          text,
          DEFAULT_INTERVAL_SECONDS,
          LEAST_INTERVAL_SECONDS,
          MOST_INTERVAL_SECONDS);
    }
    return seconds.orElse(DEFAULT_INTERVAL_SECONDS);
  }

  @Override
  public void tick() {
    if (latencies != null) {
      latencies.endIntervalAfter(intervalNanos);
    }
  }

  @Override
  public void report(Snapshot.Builder snapshot) {
    report(latencies.intervals(), snapshot);
  }

  void report(List<LatencyInterval> intervals, Snapshot.Builder snapshot) {
    if (intervals.isEmpty()) {
      // The first may end before the totals below are read.
      return;
    }
    long now = latencies.now();
    for (LatencyInterval interval : intervals) {
      double ageSeconds = Math.max(0, now - interval.endNanos()) / NANOS_PER_SECOND;
      interval
          .classes()
          .forEach(
              (requestClass, summary) ->
                  snapshot.latency(latency(requestClass, ageSeconds, interval.seconds(), summary)));
    }
    for (Operation operation : Operation.values()) {
      report(operation, intervals, snapshot);
    }
  }

  private static Snapshot.Latency latency(
      RequestClass requestClass, double ageSeconds, double seconds, LatencySummary summary) {
    return new Snapshot.Latency(
        requestClass.text(),
        ageSeconds,
        seconds,
        summary.count(),
        summary.errors(),
        summary.meanSeconds(),
        summary.p50Seconds(),
        summary.p99Seconds(),
        summary.p999Seconds(),
        summary.maxSeconds());
  }

  /** The protocol's latencies know two classes alone, so operations are figures. */
  private void report(
      Operation operation, List<LatencyInterval> intervals, Snapshot.Builder snapshot) {
    long requests = latencies.requestTotal(operation);
    long errors = latencies.errorTotal(operation);
    if (requests + errors == 0) {
      return;
    }
    String name = operation.name().toLowerCase(Locale.ROOT);
    snapshot.figure("requests_" + name + "_total", requests);
    snapshot.figure("request_errors_" + name + "_total", errors);
    LatencySummary last = intervals.get(intervals.size() - 1).operations().get(operation);
    snapshot.figure("latency_" + name + "_mean_seconds", last.meanSeconds());
    snapshot.figure("latency_" + name + "_p50_seconds", last.p50Seconds());
    snapshot.figure("latency_" + name + "_p99_seconds", last.p99Seconds());
    snapshot.figure("latency_" + name + "_p999_seconds", last.p999Seconds());
  }
}
