package dev.sluice.ycsb;

import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Hands the operations of a run to its threads, each when it is due.
 *
 * <p>All threads take from one queue: while one waits for the store, the others issue what is due,
 * so an operation is late only when every thread is busy.
 */
final class OperationQueue {
  /** A thread that waits for a due time looks for a stop at least this often. */
  private static final long STOP_CHECK_NANOS = 50_000_000;

  /** At the end of the run, so that it is not lengthened by more than this. */
  private static final long LATE_STOP_CHECK_NANOS = 1_000_000;

  private final long limit;
  private final TargetSchedule schedule;
  private final AtomicLong next = new AtomicLong();
  private final long startNanos;
  private final long lastDueNanos;

  /**
   * A queue that starts now.
   *
   * @param limit operations in all; 0 for no limit
   * @param schedule when they are due; null to issue them as fast as the store answers
   * @param startNanos {@link System#nanoTime} at the start of the run
   * @param lengthNanos of the run: what is due later is not part of it, however late the stop
   *     comes; 0 for no end
   */
  OperationQueue(long limit, TargetSchedule schedule, long startNanos, long lengthNanos) {
    this.limit = limit;
    this.schedule = schedule;
    this.startNanos = startNanos;
    lastDueNanos = lengthNanos > 0 ? lengthNanos : Long.MAX_VALUE;
  }

  /**
   * Takes the next operation and waits until it is due.
   *
   * @param stop whether the run is to end early
   * @return its due time on the clock of {@link System#nanoTime}; empty at the end of the run
   */
  OptionalLong take(BooleanSupplier stop) {
    long operation = next.getAndIncrement();
    if (limit > 0 && operation >= limit) {
      return OptionalLong.empty();
    }
    if (schedule == null) {
      return stop.getAsBoolean() ? OptionalLong.empty() : OptionalLong.of(System.nanoTime());
    }
    long dueNanos = schedule.dueNanos(operation);
    boolean inTime = dueNanos <= lastDueNanos;
    long due = startNanos + Math.min(dueNanos, lastDueNanos);
    while (!stop.getAsBoolean()) {
      long wait = due - System.nanoTime();
      if (wait <= 0 && inTime) {
        return OptionalLong.of(due);
      }
      LockSupport.parkNanos(wait > 0 ? Math.min(wait, STOP_CHECK_NANOS) : LATE_STOP_CHECK_NANOS);
    }
    return OptionalLong.empty();
  }

  /**
   * How many operations should have been issued so far.
   *
   * @param nanos nanoseconds since the start of the run
   * @return 0 without a schedule
   */
  long due(long nanos) {
    if (schedule == null) {
      return 0;
    }
    long due = schedule.operationsDue(Math.min(nanos, lastDueNanos));
    return limit > 0 ? Math.min(due, limit) : due;
  }
}
