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
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** The splits and merges of the region normalizer, which can be put off. */
final class Normalization implements TaskKind {
  static final String KIND = "normalization";

  private static final double NANOS_PER_SECOND = 1e9;

  private final LeaseStore leases;
  private final LongSupplier nanoTime;
  private final AtomicLong splits = new AtomicLong();
  private final AtomicLong merges = new AtomicLong();
  private final AtomicLong putOff = new AtomicLong();
  // Since when by the table.
  private final Map<String, Long> putOffSinceNanos = new ConcurrentHashMap<>();

  Normalization(LeaseStore leases, LongSupplier nanoTime) {
    this.leases = leases;
    this.nanoTime = nanoTime;
  }

  /** Called where the normalizer asks for a split. */
  void split(String table) throws PutOffException {
    refuseHeld(table, "a split of a region of " + table);
    splits.incrementAndGet();
  }

  /** Called where the normalizer asks for a merge. */
  void merge(String table) throws PutOffException {
    refuseHeld(table, "a merge of regions of " + table);
    merges.incrementAndGet();
  }

  private void refuseHeld(String table, String step) throws PutOffException {
    Optional<Lease> hold = hold(table);
    if (hold.isEmpty()) {
      putOffSinceNanos.remove(table);
      return;
    }
    putOff.incrementAndGet();
    putOffSinceNanos.putIfAbsent(table, nanoTime.getAsLong());
    throw new PutOffException(step, hold.get());
  }

  private Optional<Lease> hold(String table) {
    return leases.mostSpecific(KIND, Aspect.PACE, Scope.ofTable(table));
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
    if (!scope.family().isEmpty()) {
      throw Refusal.refused(
          "regions are split and merged with all their families",
          "Leave the family out of the scope.");
    }
  }

  @Override
  public void report(Snapshot.Builder snapshot) {
    // What was put off is planned anew by the normalizer: once it is not held, nothing is known.
    putOffSinceNanos.keySet().removeIf(table -> hold(table).isEmpty());
    putOffSinceNanos.forEach((table, since) -> snapshot.task(deferred(table, since)));
    snapshot.figure("normalization_splits_total", splits.get());
    snapshot.figure("normalization_merges_total", merges.get());
    snapshot.figure("normalization_steps_put_off_total", putOff.get());
  }

  private Snapshot.Task deferred(String table, long sinceNanos) {
    double seconds = (nanoTime.getAsLong() - sinceNanos) / NANOS_PER_SECOND;
    return new Snapshot.Task(
        KIND + "-" + table, KIND, table, TaskState.DEFERRED, "", 0, 0, 0, seconds, seconds);
  }
}
