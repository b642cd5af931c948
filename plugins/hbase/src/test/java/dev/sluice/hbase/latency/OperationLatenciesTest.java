package dev.sluice.hbase.latency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.lease.FakeClock;
import dev.sluice.local.protocol.SnapshotMembers;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OperationLatenciesTest {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  // HdrHistogram with two significant digits.
  private static final double TOO_HIGH = 1.01;

  private final FakeClock clock = new FakeClock();
  private final OperationLatencies latencies = new OperationLatencies(clock);

  private void answer(Operation operation, long microseconds) {
    long arrival = latencies.now();
    clock.advanceNanos(TimeUnit.MICROSECONDS.toNanos(microseconds));
    latencies.answered(operation, arrival);
  }

  private LatencyInterval last() {
    List<LatencyInterval> intervals = latencies.intervals();
    return intervals.get(intervals.size() - 1);
  }

  @Test
  void anIntervalEndsWhenItsTimeHasPassedEvenWhereTheClockOverflows() {
    clock.advanceNanos(SECOND - 1);
    latencies.endIntervalAfter(SECOND);
    assertTrue(latencies.intervals().isEmpty());
    clock.advanceNanos(1);
    latencies.endIntervalAfter(SECOND);
    assertEquals(1, latencies.intervals().size());
    assertEquals(1.0, last().seconds(), 1e-9);
  }

  @Test
  void requestsCountInTheIntervalInWhichTheyEnd() {
    answer(Operation.GET, 100);
    latencies.endInterval();
    answer(Operation.GET, 200);
    answer(Operation.PUT, 300);
    latencies.failed(Operation.PUT);
    latencies.endInterval();
    LatencyInterval second = last();
    assertEquals(1, second.operations().get(Operation.GET).count());
    assertEquals(1, second.classes().get(RequestClass.WRITE).count());
    assertEquals(1, second.classes().get(RequestClass.WRITE).errors());
    assertEquals(2, latencies.requestTotal(Operation.GET));
    assertEquals(1, latencies.errorTotal(Operation.PUT));
  }

  @Test
  void withoutRequestsTimesAreZero() {
    latencies.endInterval();
    assertEquals(new LatencySummary(0, 0, 0, 0, 0, 0, 0), last().classes().get(RequestClass.READ));
  }

  @Test
  void onlyTheLastIntervalsAreKept() {
    for (int i = 0; i < 3 * OperationLatencies.KEPT_INTERVALS; i++) {
      clock.advanceNanos(SECOND);
      latencies.endInterval();
    }
    assertEquals(OperationLatencies.KEPT_INTERVALS, latencies.intervals().size());
    assertEquals(clock.getAsLong(), last().endNanos());
  }

  @Test
  void aRequestOfMoreThanAnHourCountsAsOneOfAnHour() {
    answer(Operation.SCAN_NEXT, TimeUnit.HOURS.toMicros(5));
    latencies.endInterval();
    assertEquals(3600, last().classes().get(RequestClass.READ).maxSeconds(), 36);
  }

  @Property(tries = 200)
  void percentilesAreThoseOfTheRequestsOrABucketMore(
      @ForAll @Size(min = 1, max = 300) List<@LongRange(min = 0, max = 10_000_000) Long> times) {
    OperationLatencies fresh = new OperationLatencies(clock);
    for (long microseconds : times) {
      long arrival = fresh.now();
      clock.advanceNanos(TimeUnit.MICROSECONDS.toNanos(microseconds));
      fresh.answered(Operation.GET, arrival);
    }
    fresh.endInterval();
    LatencySummary reads = fresh.intervals().get(0).classes().get(RequestClass.READ);
    List<Long> sorted = times.stream().sorted().toList();
    assertEquals(times.size(), reads.count());
    checkRank(sorted, 0.5, reads.p50Seconds());
    checkRank(sorted, 0.99, reads.p99Seconds());
    checkRank(sorted, 1, reads.maxSeconds());
    assertTrue(reads.p50Seconds() <= reads.p99Seconds());
    assertTrue(reads.p99Seconds() <= reads.p999Seconds());
    assertTrue(reads.p999Seconds() <= reads.maxSeconds());
  }

  private static void checkRank(List<Long> sorted, double share, double shownSeconds) {
    int rank = Math.max(1, (int) Math.ceil(share * sorted.size()));
    double exactSeconds = sorted.get(rank - 1) / 1e6;
    assertTrue(shownSeconds >= exactSeconds - 1e-9, shownSeconds + " for " + exactSeconds);
    assertTrue(shownSeconds <= TOO_HIGH * exactSeconds + 1e-6, shownSeconds + " " + exactSeconds);
  }

  @Test
  void aSnapshotHasBothClassesTheLastIntervalLastAndEachOperation() {
    LatencyReports reports = new LatencyReports();
    reports.attach(latencies, new Configuration(false));
    for (int i = 0; i < 2; i++) {
      answer(Operation.GET, 500);
      answer(Operation.INCREMENT, 2000);
      clock.advanceNanos(SECOND);
      reports.tick();
    }
    clock.advanceNanos(SECOND / 4);
    SnapshotMembers members = SnapshotMembers.of(reports);
    assertEquals(4, members.latencies().size());
    Map<?, ?> lastRead = (Map<?, ?>) members.latencies().get(2);
    assertEquals("read", lastRead.get("class"));
    assertEquals(0.25, (double) lastRead.get("age_seconds"), 1e-9);
    assertEquals(2, members.figure("requests_get_total"));
    assertEquals(0.0005, members.figure("latency_get_p99_seconds"), 0.00001);
    assertEquals(0.002, members.figure("latency_increment_mean_seconds"), 0.00002);
    assertNull(members.figure("requests_append_total"));
  }

  @Test
  void aSnapshotBeforeTheFirstIntervalHasNothing() {
    LatencyReports reports = new LatencyReports();
    reports.attach(latencies, new Configuration(false));
    // It ends between the looks at the intervals and at the totals.
    List<LatencyInterval> before = latencies.intervals();
    answer(Operation.GET, 500);
    latencies.endInterval();
    SnapshotMembers members = SnapshotMembers.of(snapshot -> reports.report(before, snapshot));
    assertTrue(members.figures().isEmpty() && members.latencies().isEmpty());
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "601", "1s", "NaN", ""})
  void anIntervalThatCannotBeIsReplacedByTheDefault(String value) {
    LatencyReports reports = new LatencyReports();
    Configuration conf = new Configuration(false);
    conf.set(LatencyReports.INTERVAL_KEY, value);
    reports.attach(latencies, conf);
    clock.advanceNanos(SECOND - 1);
    reports.tick();
    assertTrue(latencies.intervals().isEmpty());
    clock.advanceNanos(1);
    reports.tick();
    assertEquals(1, latencies.intervals().size());
  }
}
