package dev.sluice.hbase.master;

import dev.sluice.local.lease.Aspect;
import dev.sluice.local.lease.Lease;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import dev.sluice.local.protocol.Refusal;
import dev.sluice.local.protocol.Snapshot;
import dev.sluice.local.protocol.TaskKind;
import dev.sluice.local.protocol.TaskState;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;

/** The runs of the balancer, of which those of its chore can be put off. */
final class Balancing implements TaskKind {
  static final String KIND = "balancing";

  private static final double NANOS_PER_SECOND = 1e9;

  private final LeaseStore leases;
  private final LongSupplier nanoTime;
  private final double longestRunSeconds;

  // Guarded by this, as all that follows. Null for none.
  private Long runningSinceNanos;
  private Long putOffSinceNanos;
  private Long lastEndNanos;
  private long runs;
  private long runsPutOff;
  private long moves;
  private long lastMoves;

  /**
   * Makes it.
   *
   * @param longestRunSeconds after which a run that has not told its end is over: it has failed
   */
  Balancing(LeaseStore leases, LongSupplier nanoTime, double longestRunSeconds) {
    this.leases = leases;
    this.nanoTime = nanoTime;
    this.longestRunSeconds = longestRunSeconds;
  }

  /** Called where a run of the chore begins: it is put off as long as a lease says so. */
  void beginByChore() throws PutOffException {
    Optional<Lease> hold = leases.find(KIND, Aspect.PACE, Scope.SERVER);
    if (hold.isPresent()) {
      putOff();
      throw new PutOffException("a run of the balancer", hold.get());
    }
    begin();
  }

  private synchronized void putOff() {
    runsPutOff++;
    if (putOffSinceNanos == null) {
      putOffSinceNanos = nanoTime.getAsLong();
    }
  }

  /** Called where a run begins that nothing puts off. */
  synchronized void begin() {
    runningSinceNanos = nanoTime.getAsLong();
    putOffSinceNanos = null;
  }

  /** Called where a run has ended, with the regions that it has had moved. */
  synchronized void end(int movedRegions) {
    runningSinceNanos = null;
    lastEndNanos = nanoTime.getAsLong();
    runs++;
    moves += movedRegions;
    lastMoves = movedRegions;
  }

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public List<SettingName> settings() {
    return List.of(SettingName.HOLD);
  }

  @Override
  public void checkOrder(Scope scope, Setting setting) throws Refusal {
    if (!scope.equals(Scope.SERVER)) {
      throw Refusal.refused(
          "a run of the balancer is one of all tables", "Leave the scope of the order empty.");
    }
  }

  @Override
  public synchronized void report(Snapshot.Builder snapshot) {
    boolean isHeld = leases.find(KIND, Aspect.PACE, Scope.SERVER).isPresent();
    if (runningSinceNanos != null && secondsSince(runningSinceNanos) < longestRunSeconds) {
      snapshot.task(task("run", TaskState.RUNNING, secondsSince(runningSinceNanos), 0));
    }
    if (putOffSinceNanos != null) {
      double seconds = secondsSince(putOffSinceNanos);
      snapshot.task(task("due", isHeld ? TaskState.DEFERRED : TaskState.QUEUED, seconds, seconds));
    }
    snapshot.figure("balancing_runs_total", runs);
    snapshot.figure("balancing_runs_put_off_total", runsPutOff);
    snapshot.figure("balancing_moved_regions_total", moves);
    if (lastEndNanos != null) {
      snapshot.figure("balancing_last_run_moved_regions", lastMoves);
      snapshot.figure("balancing_last_run_age_seconds", secondsSince(lastEndNanos));
    }
  }

  private double secondsSince(long nanos) {
    return (nanoTime.getAsLong() - nanos) / NANOS_PER_SECOND;
  }

  private static Snapshot.Task task(
      String id, TaskState state, double ageSeconds, double putOffSeconds) {
    return new Snapshot.Task(
        KIND + "-" + id, KIND, "", state, "", 0, 0, 0, putOffSeconds, ageSeconds);
  }
}
