package dev.sluice.ycsb;

import dev.sluice.client.LatencyReporter;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.apache.htrace.core.HTraceConfiguration;
import org.apache.htrace.core.Tracer;
import site.ycsb.Client;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.DBWrapper;
import site.ycsb.Utils;
import site.ycsb.Workload;
import site.ycsb.WorkloadException;
import site.ycsb.measurements.Measurements;

/**
 * One load or run of a YCSB workload: YCSB's own workload, measurements and wrapper around the
 * store, under a loop that can follow a {@link TargetSchedule} and that fails when YCSB's client
 * would end with exit code 0. At most one per process, because YCSB's measurements are one object.
 */
final class WorkloadRun {
  private static final long STATUS_SECONDS = 10;

  private final StoreBinding binding;
  private final Phase phase;
  private final Properties properties;
  private final PrintStream status;
  private final int threads;
  private final List<DB> stores = new ArrayList<>();
  private final List<DB> measuredStores = new ArrayList<>();
  private final LongAdder operations = new LongAdder();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private final CountDownLatch running;
  private LatencyReporter reporter;
  private Measurements measurements;
  private Workload workload;
  private OperationQueue queue;
  private long startMillis;
  private long startNanos;
  private long elapsedNanos;

  /**
   * A run that has not started.
   *
   * @param properties checked by {@link WorkloadProperties#check}
   * @param status where to report progress; null to be quiet
   */
  WorkloadRun(StoreBinding binding, Phase phase, Properties properties, PrintStream status) {
    this.binding = binding;
    this.phase = phase;
    this.properties = properties;
    this.status = status;
    threads = Integer.parseInt(properties.getProperty(Client.THREAD_COUNT_PROPERTY));
    running = new CountDownLatch(threads);
  }

  /**
   * Runs to the end.
   *
   * @throws SettingException for wrong properties
   * @throws WorkloadException when the workload cannot be set up, or a load could not insert
   * @throws DBException when a thread cannot reach the store at the start
   */
  RunOutcome execute() throws WorkloadException, DBException, IOException, InterruptedException {
    Measurements.setProperties(properties);
    measurements = Measurements.getMeasurements();
    workload = newWorkload();
    workload.init(properties);
    reporter = WorkloadProperties.reporter(properties, binding.name());
    try {
      connect();
      runThreads();
    } finally {
      disconnect();
      workload.cleanup();
      if (reporter != null) {
        reporter.close();
      }
    }
    rethrow();
    return new RunOutcome(startMillis, export());
  }

  private Workload newWorkload() {
    String name = properties.getProperty(Client.WORKLOAD_PROPERTY, "");
    try {
      return (Workload) Class.forName(name).getDeclaredConstructor().newInstance();
    } catch (ReflectiveOperationException | ClassCastException e) {
      throw new SettingException(
          "workload=" + name + " is no YCSB workload; add a file such as -P a.properties");
    }
  }

  private DB reported(DB store) {
    if (reporter == null) {
      return store;
    }
    return new ReportedDb(
        store,
        reporter,
        // Without a schedule that is now, or 0 where nobody asks for intended latency.
        measurements::getIntendedtartTimeNs,
        table -> binding.scope(properties, table));
  }

  /** All threads are connected before the first operation, so that none starts late. */
  private void connect() throws DBException {
    Tracer tracer = new Tracer.Builder("sluice-ycsb").conf(HTraceConfiguration.EMPTY).build();
    for (int thread = 0; thread < threads; thread++) {
      DB store = binding.newDb();
      store.setProperties(properties);
      DB measured = new DBWrapper(reported(store), tracer);
      measured.init();
      stores.add(store);
      measuredStores.add(measured);
    }
  }

  /** Past YCSB's wrapper, which would count this as an operation. */
  private void disconnect() {
    for (DB store : stores) {
      try {
        store.cleanup();
      } catch (DBException e) {
        failure.compareAndSet(null, e);
      }
    }
  }

  private void runThreads() throws InterruptedException {
    TargetSchedule schedule = phase == Phase.RUN ? WorkloadProperties.schedule(properties) : null;
    startMillis = System.currentTimeMillis();
    startNanos = System.nanoTime();
    queue =
        new OperationQueue(
            phase.operations(properties),
            schedule,
            startNanos,
            TimeUnit.SECONDS.toNanos(limitSeconds()));
    for (int thread = 0; thread < threads; thread++) {
      int number = thread;
      new Thread(() -> runThread(number, schedule != null), "client-" + thread).start();
    }
    waitForThreads();
    elapsedNanos = System.nanoTime() - startNanos;
  }

  private void runThread(int number, boolean scheduled) {
    DB store = measuredStores.get(number);
    try {
      Object state = workload.initThread(properties, number, threads);
      OptionalLong due;
      while ((due = queue.take(workload::isStopRequested)).isPresent()) {
        if (scheduled) {
          measurements.setIntendedStartTimeNs(due.getAsLong());
        }
        if (!phase.execute(workload, store, state)) {
          throw new WorkloadException("the store refused an operation; see its error above");
        }
        operations.increment();
      }
    } catch (Throwable e) {
      failure.compareAndSet(null, e);
      workload.requestStop();
    } finally {
      running.countDown();
    }
  }

  /** Closes an interval of the histogram logs at each whole interval since the start. */
  private void waitForThreads() throws InterruptedException {
    long interval = seconds(WorkloadProperties.INTERVAL_SECONDS);
    long limit = limitSeconds();
    long nextStatus = STATUS_SECONDS;
    for (long second = interval; ; second += interval) {
      if (limit > 0 && second >= limit) {
        if (awaitUntil(limit)) {
          return;
        }
        workload.requestStop();
        limit = 0;
      }
      if (awaitUntil(second)) {
        return;
      }
      measurements.getSummary();
      if (status != null && second >= nextStatus) {
        printStatus(second, System.nanoTime() - startNanos);
        nextStatus = second + STATUS_SECONDS;
      }
    }
  }

  private boolean awaitUntil(long seconds) throws InterruptedException {
    long wait = startNanos + TimeUnit.SECONDS.toNanos(seconds) - System.nanoTime();
    return running.await(wait, TimeUnit.NANOSECONDS);
  }

  /** How long the run lasts at most; 0 for no end, which a load always has. */
  private long limitSeconds() {
    return phase == Phase.RUN ? seconds(Client.MAX_EXECUTION_TIME) : 0;
  }

  private long seconds(String name) {
    return Long.parseLong(properties.getProperty(name));
  }

  private void printStatus(long second, long elapsed) {
    long done = operations.sum();
    long behind = Math.max(0, queue.due(elapsed) - done);
    status.printf(
        Locale.ROOT,
        "%d s: %d operations, %.1f per second on average, %d behind schedule%n",
        second,
        done,
        done * 1e9 / elapsed,
        behind);
  }

  private void rethrow() throws WorkloadException {
    Throwable thrown = failure.get();
    if (thrown == null) {
      return;
    }
    throw new WorkloadException(thrown.getMessage(), thrown);
  }

  /** What was due and the store was too slow for; these never got a latency. */
  private long unissued(long done) {
    return Math.max(0, queue.due(elapsedNanos) - done);
  }

  private MeasurementTable export() throws IOException {
    MeasurementTable table = new MeasurementTable();
    long done = operations.sum();
    table.write("OVERALL", "StartTime(ms)", startMillis);
    table.write("OVERALL", "RunTime(ms)", elapsedNanos / 1e6);
    table.write("OVERALL", "Operations", done);
    table.write("OVERALL", "Throughput(ops/sec)", done * 1e9 / elapsedNanos);
    table.write("OVERALL", "UnissuedOperations", unissued(done));
    table.write("TOTAL_GC_TIME", "Time(ms)", Utils.getGCTotalTime());
    measurements.exportMeasurements(table);
    table.write("OVERALL", "FailedOperations", table.failures());
    return table;
  }
}
