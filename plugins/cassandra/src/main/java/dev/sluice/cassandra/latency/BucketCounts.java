package dev.sluice.cassandra.latency;

import java.util.HashMap;
import java.util.Map;

/**
 * Counts of requests by how long they took, in the buckets of Cassandra's histograms: each counts
 * those up to its bound, in microseconds, which is a fifth more than that of the one before it. One
 * without a bound comes last.
 */
final class BucketCounts {
  private static final double MICROSECONDS_PER_SECOND = 1e6;

  private final long[] counts;
  private final long[] bounds;

  /** Takes both as they are. */
  BucketCounts(long[] counts, long[] bounds) {
    this.counts = counts;
    this.bounds = bounds;
  }

  /** What has been counted since an earlier moment; all of it if there is none. */
  static long[] since(long[] now, long[] before) {
    long[] counts = new long[now.length];
    for (int i = 0; i < now.length; i++) {
      // A table that was made anew counts anew.
      counts[i] = Math.max(0, now[i] - (i < before.length ? before[i] : 0));
    }
    return counts;
  }

  /**
   * The same of each name. One that was not looked at before has none yet: what it has counted is
   * of all the time since the node has started, as where others before it were dropped.
   */
  static Map<String, long[]> since(Map<String, long[]> now, Map<String, long[]> before) {
    Map<String, long[]> counts = new HashMap<>();
    now.forEach(
        (name, each) -> {
          if (before.containsKey(name)) {
            counts.put(name, since(each, before.get(name)));
          }
        });
    return counts;
  }

  /** The sum of two. */
  static long[] sum(long[] one, long[] other) {
    long[] counts = new long[Math.max(one.length, other.length)];
    for (int i = 0; i < counts.length; i++) {
      counts[i] = (i < one.length ? one[i] : 0) + (i < other.length ? other[i] : 0);
    }
    return counts;
  }

  long total() {
    long total = 0;
    for (long count : counts) {
      total += count;
    }
    return total;
  }

  /** Bound of the bucket of the request that this part of all do not exceed; 0 without any. */
  double quantileSeconds(double part) {
    long total = total();
    long rank = Math.max(1, (long) Math.ceil(part * total));
    long seen = 0;
    for (int i = 0; i < counts.length && total > 0; i++) {
      seen += counts[i];
      if (seen >= rank) {
        return boundSeconds(i);
      }
    }
    return 0;
  }

  /** The mean, with each request in the middle of its bucket: it is off by a tenth at most. */
  double meanSeconds() {
    long total = total();
    double sum = 0;
    for (int i = 0; i < counts.length; i++) {
      double least = i == 0 ? 0 : boundSeconds(i - 1);
      sum += counts[i] * (least + boundSeconds(i)) / 2;
    }
    return total == 0 ? 0 : sum / total;
  }

  double maxSeconds() {
    return quantileSeconds(1);
  }

  private double boundSeconds(int bucket) {
    return bounds[Math.min(bucket, bounds.length - 1)] / MICROSECONDS_PER_SECOND;
  }
}
