package dev.sluice.local.protocol;

import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import java.util.ArrayList;
import java.util.List;

/** A kind that notes what is started, and refuses when it is told to. */
final class CountingKind implements TaskKind {
  final List<Scope> started = new ArrayList<>();
  final List<String> variantsStarted = new ArrayList<>();
  final List<String> aborted = new ArrayList<>();
  boolean refusesStart;
  boolean failsToStart;
  boolean isOfAnotherVersion;
  boolean refusesOrders;
  // What goes on beside an order that is looked at.
  Runnable meanwhile = () -> {};

  @Override
  public String kind() {
    return "compaction";
  }

  @Override
  public List<SettingName> settings() {
    return List.of(
        SettingName.RATE_BYTES_PER_SECOND, SettingName.HOLD, SettingName.FULL, SettingName.STOCK);
  }

  @Override
  public boolean canStart() {
    return true;
  }

  @Override
  public void checkOrder(Scope scope, Setting setting) throws Refusal {
    meanwhile.run();
    if (refusesOrders) {
      throw Refusal.refused("at its limit", "");
    }
  }

  @Override
  public List<String> variants() {
    return List.of("minor", "major");
  }

  @Override
  public void start(Scope scope, String variant) throws Refusal {
    if (refusesStart) {
      throw Refusal.refused("nothing to start", "");
    }
    if (failsToStart) {
      throw new IllegalStateException("a fault of the store");
    }
    refuseAnotherVersion();
    started.add(scope);
    variantsStarted.add(variant);
  }

  private void refuseAnotherVersion() {
    if (isOfAnotherVersion) {
      throw new NoSuchMethodError("not in this version");
    }
  }

  @Override
  public boolean canAbort() {
    return true;
  }

  @Override
  public void abort(String task, String owner) throws Refusal {
    if (!task.equals("1")) {
      throw Refusal.notFound("no task", "");
    }
    aborted.add(task + " by " + owner);
  }

  @Override
  public void report(Snapshot.Builder snapshot) {
    refuseAnotherVersion();
    snapshot.debt(new Snapshot.Debt("compaction", "t", 1, 2, 3, 4));
    snapshot.task(
        new Snapshot.Task("1", "compaction", "t", TaskState.HELD, "write", 1, 2, 0.5, 0, 3));
    Snapshot.Latency latency = new Snapshot.Latency("read", 0, 1, 0, 0, 0, 0, 0, 0, 0);
    snapshot.latency(latency).scopeLatency(new Snapshot.ScopeLatency("t", latency));
  }
}
