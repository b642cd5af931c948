package dev.sluice.hbase.log;

import dev.sluice.hbase.regionserver.PluginPart;
import dev.sluice.hbase.regionserver.RegionServerPlugin;
import dev.sluice.local.lease.Aspect;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import dev.sluice.local.protocol.Refusal;
import dev.sluice.local.protocol.Snapshot;
import dev.sluice.local.protocol.TaskKind;
import dev.sluice.local.redirect.Tier;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.wal.WAL;

/**
 * Moves the logs of a region server between tiers by the storage policy of their folder. Only where
 * HDFS has them; where a tier has no volumes, HDFS takes another by the rules of the policy.
 */
public final class LogPlacement implements PluginPart, TaskKind {
  private static final String KIND = "log-placement";

  private final ExecutorService executor = Executors.newSingleThreadExecutor(LogPlacement::thread);
  // Logs that are listened to already.
  private final Set<WAL> known = Collections.newSetFromMap(new IdentityHashMap<>());
  private HRegionServer server;
  private LeaseStore leases;
  private TierBytes bytes;
  private LogMover mover;

  private static Thread thread(Runnable task) {
    Thread thread = new Thread(task, "sluice-log-mover");
    thread.setDaemon(true);
    return thread;
  }

  @Override
  public void attach(RegionServerPlugin owner) {
    server = (HRegionServer) owner.services();
    leases = owner.leases();
    if (!LogFolder.isPossible(server)) {
      return;
    }
    bytes = new TierBytes(this::ordered);
    mover = new LogMover(this::ordered, new LogFolder(server), executor, System::nanoTime);
    leases.addListener(mover::look);
    owner.register(this);
  }

  private Optional<Tier> ordered() {
    // Before, it has neither logs nor the name that their folder has.
    if (!server.isOnline()) {
      return Optional.empty();
    }
    return leases
        .find(KIND, Aspect.TIER, Scope.SERVER)
        .flatMap(lease -> Tier.find(lease.setting().text()));
  }

  @Override
  public void tick() {
    if (mover == null) {
      return;
    }
    // A log that is new has set the policy of the store's configuration.
    if (listenToNewLogs()) {
      mover.setStale();
    }
    mover.look();
  }

  private boolean listenToNewLogs() {
    boolean isAnyNew = false;
    for (WAL log : server.isOnline() ? server.getWALs() : List.<WAL>of()) {
      if (known.add(log)) {
        log.registerWALActionsListener(bytes.listener());
        isAnyNew = true;
      }
    }
    return isAnyNew;
  }

  @Override
  public void detach() {
    if (mover != null) {
      mover.close();
    }
    executor.shutdown();
  }

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public List<SettingName> settings() {
    return List.of(SettingName.TIER);
  }

  @Override
  public void checkOrder(Scope scope, Setting setting) throws Refusal {
    if (!scope.equals(Scope.SERVER)) {
      throw Refusal.invalid(
          "the logs are those of the whole region server", "Leave the scope out, or give \"\".");
    }
    Tier.parse(setting.text());
  }

  @Override
  public void report(Snapshot.Builder snapshot) {
    for (Tier tier : Tier.values()) {
      snapshot.figure("wal_" + tier.text() + "_bytes_total", bytes.of(tier));
    }
    snapshot.figure("wal_unordered_bytes_total", bytes.ofOthers());
    snapshot.figure("wal_moves_total", mover.moves());
    snapshot.figure("wal_move_failures_total", mover.failures());
  }
}
