package dev.sluice.cassandra.latency;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.codahale.metrics.Snapshot;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.NotEmpty;
import org.apache.cassandra.metrics.DecayingEstimatedHistogramReservoir;
import org.junit.jupiter.api.Test;

/** Quantiles of intervals, from the buckets that Cassandra counts in. */
class BucketCountsTest {
  private static final long[] BOUNDS = {1, 2, 3, 10};

  @Test
  void withoutRequestsAllTimesAreNought() {
    BucketCounts none = new BucketCounts(new long[5], BOUNDS);
    assertEquals(0, none.total());
    assertEquals(0, none.quantileSeconds(0.99));
    assertEquals(0, none.meanSeconds());
    assertEquals(0, none.maxSeconds());
  }

  @Test
  void aQuantileIsTheBoundOfItsBucket() {
    BucketCounts counts = new BucketCounts(new long[] {50, 40, 9, 1, 0}, BOUNDS);
    assertEquals(100, counts.total());
    assertEquals(1e-6, counts.quantileSeconds(0.5));
    assertEquals(2e-6, counts.quantileSeconds(0.51));
    assertEquals(3e-6, counts.quantileSeconds(0.99));
    assertEquals(10e-6, counts.quantileSeconds(0.999));
    assertEquals(10e-6, counts.maxSeconds());
  }

  @Test
  void whatIsOverAllBoundsHasTheLastOne() {
    assertEquals(10e-6, new BucketCounts(new long[] {0, 0, 0, 0, 1}, BOUNDS).maxSeconds());
  }

  @Test
  void anIntervalIsADifferenceAndNeverLessThanNothing() {
    assertArrayEquals(
        new long[] {1, 0, 3}, BucketCounts.since(new long[] {2, 0, 3}, new long[] {1, 5}));
    assertArrayEquals(
        new long[] {3, 5, 3}, BucketCounts.sum(new long[] {2, 5}, new long[] {1, 0, 3}));
  }

  @Test
  void whatIsLookedAtForTheFirstTimeHasNoIntervalYet() {
    var first = Map.of("read/k.a", new long[] {2});
    var second = Map.of("read/k.a", new long[] {5}, "read/k.b", new long[] {1_000_000});
    Map<String, long[]> counts = BucketCounts.since(second, first);
    assertEquals(Set.of("read/k.a"), counts.keySet());
    assertArrayEquals(new long[] {3}, counts.get("read/k.a"));
  }

  /** Against the sorted values themselves, with Cassandra's own histogram in between. */
  @Property(tries = 200)
  void quantilesOfCassandrasHistogramAreAtMostAFifthTooLong(
      @ForAll @NotEmpty List<@LongRange(min = 1, max = 60_000_000) Long> microseconds) {
    DecayingEstimatedHistogramReservoir histogram = new DecayingEstimatedHistogramReservoir();
    microseconds.forEach(histogram::update);
    Snapshot snapshot = histogram.getSnapshot();
    BucketCounts counts =
        new BucketCounts(
            snapshot.getValues(),
            DecayingEstimatedHistogramReservoir.DEFAULT_WITHOUT_ZERO_BUCKET_OFFSETS);
    assertEquals(microseconds.size(), counts.total());
    long[] sorted = microseconds.stream().mapToLong(Long::longValue).toArray();
    Arrays.sort(sorted);
    double mean = Arrays.stream(sorted).average().orElseThrow() * 1e-6;
    assertEquals(mean, counts.meanSeconds(), mean * 0.101 + 1e-6);
    for (double part : new double[] {0.5, 0.99, 1}) {
      double exact = sorted[(int) Math.ceil(part * sorted.length) - 1] * 1e-6;
      double found = counts.quantileSeconds(part);
      assertTrue(found >= exact * 0.999 && found <= exact * 1.21 + 1e-6, found + " of " + exact);
    }
  }
}
