package dev.sluice.hbase.latency;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.WeakHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.Recorder;
import org.apache.hadoop.hbase.Abortable;

/**
 * How long the requests of one region server take, by operation, in intervals. Handlers record
 * without waiting for each other or for {@link #endInterval}.
 */
public final class OperationLatencies {
  /** Intervals that are kept to be read. */
  static final int KEPT_INTERVALS = 10;

  private static final long HIGHEST_MICROSECONDS = TimeUnit.HOURS.toMicros(1);
  // Too high by 1% at most.
  private static final int SIGNIFICANT_DIGITS = 2;
  // In a mini cluster several servers share this class; each has its own figures.
  private static final Map<Abortable, OperationLatencies> BY_SERVER = new WeakHashMap<>();

  private final LongSupplier nanoTime;
  private final Map<Operation, Recorder> recorders = new EnumMap<>(Operation.class);
  private final Map<Operation, LongAdder> errors = new EnumMap<>(Operation.class);
  private final Map<Operation, Histogram> spare = new EnumMap<>(Operation.class);
  private final Map<Operation, Long> requestTotals = new EnumMap<>(Operation.class);
  private final Map<Operation, Long> errorTotals = new EnumMap<>(Operation.class);
  private final Deque<LatencyInterval> ended = new ArrayDeque<>();
  private long startNanos;

  OperationLatencies(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    for (Operation operation : Operation.values()) {
      recorders.put(operation, new Recorder(HIGHEST_MICROSECONDS, SIGNIFICANT_DIGITS));
      errors.put(operation, new LongAdder());
    }
    startNanos = nanoTime.getAsLong();
  }

  /** Those of a server whose requests are timed, made at the first call. */
  static OperationLatencies of(Abortable server) {
    synchronized (BY_SERVER) {
      return BY_SERVER.computeIfAbsent(server, key -> new OperationLatencies(System::nanoTime));
    }
  }

  /** Empty for a server whose requests are not timed. */
  static Optional<OperationLatencies> find(Abortable server) {
    synchronized (BY_SERVER) {
      return Optional.ofNullable(BY_SERVER.get(server));
    }
  }

  long now() {
    return nanoTime.getAsLong();
  }

  void answered(Operation operation, long arrivalNanos) {
    long microseconds = TimeUnit.NANOSECONDS.toMicros(nanoTime.getAsLong() - arrivalNanos);
    recorders.get(operation).recordValue(Math.min(Math.max(microseconds, 0), HIGHEST_MICROSECONDS));
  }

  void failed(Operation operation) {
    errors.get(operation).increment();
  }

  /** Ends the running interval if it is as long as this. */
  synchronized void endIntervalAfter(long nanos) {
    if (nanoTime.getAsLong() - startNanos >= nanos) {
      endInterval();
    }
  }

  /** Ends the running interval and begins the next. */
  synchronized void endInterval() {
    long end = nanoTime.getAsLong();
    Map<Operation, Histogram> histograms = new EnumMap<>(Operation.class);
    Map<Operation, Long> failures = new EnumMap<>(Operation.class);
    for (Operation operation : Operation.values()) {
      Histogram histogram = recorders.get(operation).getIntervalHistogram(spare.get(operation));
      spare.put(operation, histogram);
      histograms.put(operation, histogram);
      long failed = errors.get(operation).sumThenReset();
      failures.put(operation, failed);
      requestTotals.merge(operation, histogram.getTotalCount(), Long::sum);
      errorTotals.merge(operation, failed, Long::sum);
    }
    ended.addLast(LatencyInterval.of(startNanos, end, histograms, failures));
    startNanos = end;
    if (ended.size() > KEPT_INTERVALS) {
      ended.removeFirst();
    }
  }

  /** The intervals that have ended, the last one last. */
  synchronized List<LatencyInterval> intervals() {
    return new ArrayList<>(ended);
  }

  /** Requests that were answered well in all intervals that have ended. */
  synchronized long requestTotal(Operation operation) {
    return requestTotals.getOrDefault(operation, 0L);
  }

  /** Requests that failed in all intervals that have ended. */
  synchronized long errorTotal(Operation operation) {
    return errorTotals.getOrDefault(operation, 0L);
  }
}
