package dev.sluice.hbase.latency;

import org.HdrHistogram.Histogram;

/** Latency of some requests; times are 0 where there were none. */
record LatencySummary(
    long count,
    long errors,
    double meanSeconds,
    double p50Seconds,
    double p99Seconds,
    double p999Seconds,
    double maxSeconds) {
  private static final double MICROSECONDS = 1e-6;

  static LatencySummary of(Histogram histogram, long errors) {
    long count = histogram.getTotalCount();
    if (count == 0) {
      return new LatencySummary(0, errors, 0, 0, 0, 0, 0);
    }
    return new LatencySummary(
        count,
        errors,
        histogram.getMean() * MICROSECONDS,
        histogram.getValueAtPercentile(50) * MICROSECONDS,
        histogram.getValueAtPercentile(99) * MICROSECONDS,
        histogram.getValueAtPercentile(99.9) * MICROSECONDS,
        histogram.getMaxValue() * MICROSECONDS);
  }
}
