package dev.sluice.hbase.master;

import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.SettingName;
import dev.sluice.local.protocol.Refusal;
import dev.sluice.local.protocol.Snapshot;
import dev.sluice.local.protocol.TaskKind;
import dev.sluice.local.protocol.TaskState;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts compactions of a table or a family in the whole cluster. A task is one while it asks the
 * region servers; the compactions that follow are theirs, and obey their leases.
 */
final class TableCompactions implements TaskKind {
  static final String KIND = "compaction";
  static final String MINOR = "minor";
  static final String MAJOR = "major";

  /** What asks the region servers. */
  @FunctionalInterface
  interface Requester {
    /** Requests a compaction of each region of the scope, and returns when all were requested. */
    void request(Scope scope, boolean isMajor) throws IOException;
  }

  /** What refuses a start for the state of the table. */
  @FunctionalInterface
  interface Check {
    void refuseIfImpossible(Scope scope) throws Refusal;
  }

  private static final Logger LOG = LoggerFactory.getLogger(TableCompactions.class);
  private static final double NANOS_PER_SECOND = 1e9;

  /** For so long one that has failed is shown. */
  private static final double FAILURE_SHOWN_SECONDS = 10;

  private static final int MAX_TASKS = 100;

  private static final class Task {
    private final String id;
    private final Scope scope;
    private final String variant;
    private final long beginNanos;
    private TaskState state = TaskState.QUEUED;
    private long failedNanos;

    private Task(String id, Scope scope, String variant, long beginNanos) {
      this.id = id;
      this.scope = scope;
      this.variant = variant;
      this.beginNanos = beginNanos;
    }

    private boolean isEnded() {
      return state == TaskState.FAILED;
    }
  }

  private final Check check;
  private final Requester requester;
  private final Executor executor;
  private final LongSupplier nanoTime;
  // Both guarded by this.
  private final Map<String, Task> tasks = new LinkedHashMap<>();
  private long started;

  /**
   * Makes it.
   *
   * @param executor one thread, so that a table is asked for after the other
   */
  TableCompactions(Check check, Requester requester, Executor executor, LongSupplier nanoTime) {
    this.check = check;
    this.requester = requester;
    this.executor = executor;
    this.nanoTime = nanoTime;
  }

  @Override
  public String kind() {
    return KIND;
  }

  /** None: pace and order of compactions are the region servers'. */
  @Override
  public List<SettingName> settings() {
    return List.of();
  }

  @Override
  public boolean canStart() {
    return true;
  }

  @Override
  public List<String> variants() {
    return List.of(MINOR, MAJOR);
  }

  /** Starts a major one, or with the variant a minor one, as region servers do. */
  @Override
  public void start(Scope scope, String variant) throws Refusal {
    if (scope.equals(Scope.SERVER)) {
      throw Refusal.refused(
          "a compaction of all tables of the cluster is not started by one order",
          "Name a table, or order it from a region server for its regions.");
    }
    check.refuseIfImpossible(scope);
    Task task = add(scope, variant.equals(MINOR) ? MINOR : MAJOR);
    try {
      executor.execute(() -> run(task));
    } catch (RejectedExecutionException e) {
      remove(task);
      throw Refusal.unavailable("the master stops", "Ask the master that takes over.");
    }
  }

  private synchronized Task add(Scope scope, String variant) throws Refusal {
    forgetFailures();
    List<Task> open = tasks.values().stream().filter(task -> !task.isEnded()).toList();
    if (open.stream().anyMatch(task -> task.scope.equals(scope))) {
      throw Refusal.refused(
          "a compaction of \"" + scope.text() + "\" is being requested already", "Wait for it.");
    }
    if (open.size() >= MAX_TASKS) {
      throw Refusal.refused(open.size() + " compactions are being requested", "Wait for them.");
    }
    started++;
    Task task = new Task(scope.text() + "#" + started, scope, variant, nanoTime.getAsLong());
    tasks.put(task.id, task);
    return task;
  }

  private void run(Task task) {
    setState(task, TaskState.RUNNING);
    try {
      requester.request(task.scope, task.variant.equals(MAJOR));
      remove(task);
    } catch (IOException | RuntimeException e) {
      LOG.warn(
          "not every region of {} was asked for a {} compaction: order it again",
          task.scope.text(),
          task.variant,
          e);
      setState(task, TaskState.FAILED);
    }
  }

  private synchronized void setState(Task task, TaskState state) {
    task.state = state;
    task.failedNanos = nanoTime.getAsLong();
  }

  private synchronized void remove(Task task) {
    tasks.remove(task.id);
  }

  private void forgetFailures() {
    long now = nanoTime.getAsLong();
    tasks
        .values()
        .removeIf(
            task -> task.isEnded() && seconds(now - task.failedNanos) > FAILURE_SHOWN_SECONDS);
  }

  private static double seconds(long nanos) {
    return nanos / NANOS_PER_SECOND;
  }

  @Override
  public synchronized void report(Snapshot.Builder snapshot) {
    forgetFailures();
    long now = nanoTime.getAsLong();
    for (Task task : tasks.values()) {
      double age = seconds(now - task.beginNanos);
      snapshot.task(
          new Snapshot.Task(
              task.id, KIND, task.scope.text(), task.state, task.variant, 0, 0, 0, 0, age));
    }
    snapshot.figure("table_compactions_started_total", started);
  }
}
