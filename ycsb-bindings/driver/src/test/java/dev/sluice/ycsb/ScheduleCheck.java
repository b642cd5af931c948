package dev.sluice.ycsb;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Whether the intervals of a run fit its schedule, on a machine of any speed: nothing was done
 * before it was due, and whatever was late was at most as late as the longest intended latency.
 */
public final class ScheduleCheck {
  /** The logs have milliseconds, of another clock than the schedule's. */
  private static final double SLACK_SECONDS = 0.05;

  private static final class Interval {
    private double endSeconds;
    private long count;
  }

  private final TargetSchedule schedule;
  private final Map<Integer, Interval> intervals = new TreeMap<>();
  private double latestSeconds;
  private long done;

  private ScheduleCheck(TargetSchedule schedule) {
    this.schedule = schedule;
  }

  /**
   * Checks the rows of a run.
   *
   * @param schedule as given to the run
   * @param csv intervals.csv, with its header
   * @return operations done in all
   */
  public static long assertFollows(String schedule, List<String> csv) {
    ScheduleCheck check = new ScheduleCheck(TargetSchedule.parse(schedule));
    csv.stream().skip(1).map(row -> row.split(",", -1)).forEach(check::add);
    check.assertEachInterval();
    return check.done;
  }

  private void add(String[] cells) {
    long count = Long.parseLong(cells[5]);
    if (cells[4].equals("intended")) {
      double longest = count == 0 ? 0 : Long.parseLong(cells[11]) / 1e6;
      latestSeconds = Math.max(latestSeconds, longest);
      return;
    }
    Interval interval = intervals.computeIfAbsent(Integer.valueOf(cells[0]), i -> new Interval());
    interval.endSeconds = Math.max(interval.endSeconds, Double.parseDouble(cells[2]));
    interval.count += count;
    done += count;
  }

  private void assertEachInterval() {
    long soFar = 0;
    for (Interval interval : intervals.values()) {
      soFar += interval.count;
      long most = due(interval.endSeconds + SLACK_SECONDS);
      long least = Math.min(done, due(interval.endSeconds - SLACK_SECONDS - latestSeconds));
      assertTrue(
          soFar >= least && soFar <= most,
          soFar + " done after " + interval.endSeconds + " s, not " + least + " to " + most);
    }
  }

  private long due(double seconds) {
    return seconds < 0 ? 0 : schedule.operationsDue((long) (seconds * 1e9));
  }
}
