package dev.sluice.hbase.latency;

import java.util.EnumMap;
import java.util.Map;
import org.HdrHistogram.Histogram;

/**
 * What the requests took in one interval, by class and by operation.
 *
 * @param endNanos by the clock that timed them
 */
record LatencyInterval(
    long endNanos,
    double seconds,
    Map<RequestClass, LatencySummary> classes,
    Map<Operation, LatencySummary> operations) {

  static LatencyInterval of(
      long startNanos,
      long endNanos,
      Map<Operation, Histogram> histograms,
      Map<Operation, Long> errors) {
    Map<RequestClass, Histogram> merged = new EnumMap<>(RequestClass.class);
    Map<RequestClass, Long> failed = new EnumMap<>(RequestClass.class);
    Map<Operation, LatencySummary> operations = new EnumMap<>(Operation.class);
    for (Map.Entry<Operation, Histogram> each : histograms.entrySet()) {
      Operation operation = each.getKey();
      Histogram histogram = each.getValue();
      long errorCount = errors.get(operation);
      operations.put(operation, LatencySummary.of(histogram, errorCount));
      merged.computeIfAbsent(operation.requestClass(), key -> emptyAs(histogram)).add(histogram);
      failed.merge(operation.requestClass(), errorCount, Long::sum);
    }
    Map<RequestClass, LatencySummary> classes = new EnumMap<>(RequestClass.class);
    merged.forEach(
        (each, histogram) -> classes.put(each, LatencySummary.of(histogram, failed.get(each))));
    return new LatencyInterval(endNanos, (endNanos - startNanos) / 1e9, classes, operations);
  }

  private static Histogram emptyAs(Histogram histogram) {
    return new Histogram(
        histogram.getHighestTrackableValue(), histogram.getNumberOfSignificantValueDigits());
  }
}
