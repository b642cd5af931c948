package dev.sluice.ycsb;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * When each operation of a run is due: phases of constant rate that repeat until the run ends.
 *
 * <p>The schedule is absolute, it does not shift when the store is slow; so a latency that is taken
 * from the due time has no coordinated omission.
 */
public final class TargetSchedule {
  private static final Pattern PHASE =
      Pattern.compile("\\s*(\\d+(?:\\.\\d+)?)s:(\\d+(?:\\.\\d+)?)\\s*");
  private static final double NANOS_PER_SECOND = 1e9;

  private record Phase(double seconds, double ratePerSecond) {
    double operations() {
      return seconds * ratePerSecond;
    }
  }

  private final List<Phase> phases;
  private final double cycleSeconds;
  private final double cycleOperations;

  private TargetSchedule(List<Phase> phases) {
    this.phases = List.copyOf(phases);
    cycleSeconds = phases.stream().mapToDouble(Phase::seconds).sum();
    cycleOperations = phases.stream().mapToDouble(Phase::operations).sum();
    if (!(cycleOperations > 0)) {
      throw new SettingException(
          "the target schedule issues no operation; give a phase a length and a rate above 0");
    }
  }

  /** The same rate all the time. */
  public static TargetSchedule constant(double ratePerSecond) {
    return new TargetSchedule(List.of(new Phase(1, ratePerSecond)));
  }

  /**
   * Reads {@code 60s:250,10s:1500}: 60 seconds at 250 operations per second, then 10 seconds at
   * 1500, then again from the start. A rate of 0 is a pause.
   *
   * @throws SettingException for any other text
   */
  public static TargetSchedule parse(String text) {
    List<Phase> phases = new ArrayList<>();
    for (String part : text.split(",", -1)) {
      Matcher matcher = PHASE.matcher(part);
      if (!matcher.matches()) {
        throw new SettingException(
            "'"
                + part
                + "' in the target schedule is not SECONDSs:OPERATIONS_PER_SECOND;"
                + " write it like 60s:250,10s:1500");
      }
      phases.add(
          new Phase(Double.parseDouble(matcher.group(1)), Double.parseDouble(matcher.group(2))));
    }
    return new TargetSchedule(phases);
  }

  /**
   * When an operation is due.
   *
   * @param operation number of the operation in the whole run, from 0
   * @return nanoseconds since the start of the run
   */
  public long dueNanos(long operation) {
    double cycle = Math.floor(operation / cycleOperations);
    double rest = Math.max(0, operation - cycle * cycleOperations);
    double seconds = cycle * cycleSeconds;
    for (Phase phase : phases) {
      if (rest < phase.operations()) {
        return Math.round((seconds + rest / phase.ratePerSecond()) * NANOS_PER_SECOND);
      }
      rest -= phase.operations();
      seconds += phase.seconds();
    }
    return Math.round(seconds * NANOS_PER_SECOND);
  }

  /**
   * How many operations are due up to a time, that one included.
   *
   * @param nanos nanoseconds since the start of the run
   */
  public long operationsDue(long nanos) {
    double seconds = nanos / NANOS_PER_SECOND;
    double cycle = Math.floor(seconds / cycleSeconds);
    double rest = seconds - cycle * cycleSeconds;
    double operations = cycle * cycleOperations;
    for (Phase phase : phases) {
      double taken = Math.min(Math.max(rest, 0), phase.seconds());
      operations += taken * phase.ratePerSecond();
      rest -= phase.seconds();
    }
    return corrected((long) Math.floor(operations) + 1, nanos);
  }

  /** For pauses, throughout which the operation at their end is not due yet, and for rounding. */
  private long corrected(long count, long nanos) {
    long due = count;
    while (due > 0 && dueNanos(due - 1) > nanos) {
      due--;
    }
    while (dueNanos(due) <= nanos) {
      due++;
    }
    return due;
  }
}
