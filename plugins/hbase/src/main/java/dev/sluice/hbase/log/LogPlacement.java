package dev.sluice.hbase.log;

import dev.sluice.hbase.regionserver.PluginPart;
import dev.sluice.hbase.regionserver.RegionServerPlugin;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import dev.sluice.local.protocol.Refusal;
import dev.sluice.local.protocol.Snapshot;
import dev.sluice.local.protocol.TaskKind;
import dev.sluice.local.redirect.RedirectSettings;
import dev.sluice.local.redirect.Tier;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.ServerLogs;
import org.apache.hadoop.hbase.regionserver.wal.WALActionsListener;
import org.apache.hadoop.hbase.wal.WAL;
import org.apache.hadoop.hbase.wal.WALFactory;

/**
 * Places the logs of a region server on tiers. Its one log is moved by the storage policy of its
 * folder; where there is a log on each tier ({@link TieredWALProvider}), each edit goes to one of
 * them. Where a tier has no volumes, HDFS takes another by the rules of the policy.
 */
public final class LogPlacement implements PluginPart, TaskKind {
  private static final String PREFIX = "sluice.wal.redirect.";
  // Above nearly all edits.
  private static final double DEFAULT_SIZE_BYTES = 1 << 20;

  private final ScheduledExecutorService executor =
      Executors.newSingleThreadScheduledExecutor(LogPlacement::thread);
  // Logs that are listened to already.
  private final Set<WAL> known = Collections.newSetFromMap(new IdentityHashMap<>());
  private HRegionServer server;
  private RedirectSettings settings;
  private TierBytes bytes;
  // Of the two there is one, or none where HDFS does not hold the logs.
  private LogMover mover;
  private TierChooser chooser;

  private static Thread thread(Runnable task) {
    Thread thread = new Thread(task, "sluice-log-placement");
    thread.setDaemon(true);
    return thread;
  }

  @Override
  public void attach(RegionServerPlugin owner) {
    server = (HRegionServer) owner.services();
    Configuration conf = server.getConfiguration();
    settings = new RedirectSettings(owner.leases(), conf::get, PREFIX, DEFAULT_SIZE_BYTES);
    bytes = new TierBytes(this::ordered);
    if (TieredWALProvider.class.getName().equals(conf.getTrimmed(WALFactory.WAL_PROVIDER))) {
      chooser = new TierChooser(settings::ordered, settings::limits, queues(conf));
    } else if (LogFolder.isPossible(server)) {
      mover =
          new LogMover(
              () -> LogFolder.tierToMoveTo(conf, ordered()),
              new LogFolder(server),
              executor,
              System::nanoTime);
      owner.leases().addListener(mover::look);
    } else {
      return;
    }
    owner.register(this);
  }

  /** Those of the devices that the configuration names, or else of the handlers. */
  private LogQueues queues(Configuration conf) {
    Optional<DeviceQueues> devices = DeviceQueues.configured(conf::get);
    if (devices.isEmpty()) {
      return new HandlerQueues();
    }
    long periodNanos = DeviceQueues.PERIOD.toNanos();
    // A look that fails is the last one, and nothing is redirected by one that was long ago.
    executor.scheduleWithFixedDelay(
        () -> devices.get().look(settings.limits()),
        periodNanos,
        periodNanos,
        TimeUnit.NANOSECONDS);
    return devices.get();
  }

  /** Chooses a tier for each edit, where there is a log on each of them. */
  TierChooser chooser() {
    return chooser;
  }

  /** Counts what is logged on a tier. */
  WALActionsListener counter(Tier tier) {
    return bytes.listenerOf(tier);
  }

  private Optional<Tier> ordered() {
    // Before, it has neither logs nor the name that their folder has.
    return server.isOnline() ? settings.ordered() : Optional.empty();
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
    for (WAL log : server.isOnline() ? ServerLogs.of(server) : List.<WAL>of()) {
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
    return RedirectSettings.KIND;
  }

  @Override
  public List<SettingName> settings() {
    return chooser == null ? List.of(SettingName.TIER) : RedirectSettings.NAMES;
  }

  @Override
  public void checkOrder(Scope scope, Setting setting) throws Refusal {
    if (!scope.equals(Scope.SERVER)) {
      throw Refusal.invalid(
          "the logs are those of the whole region server", "Leave the scope out, or give \"\".");
    }
    RedirectSettings.check(setting);
  }

  @Override
  public void report(Snapshot.Builder snapshot) {
    for (Tier tier : Tier.values()) {
      snapshot.figure("wal_" + tier.text() + "_bytes_total", bytes.of(tier));
    }
    if (chooser != null) {
      reportChoices(snapshot);
      return;
    }
    snapshot.figure("wal_unordered_bytes_total", bytes.ofOthers());
    snapshot.figure("wal_moves_total", mover.moves());
    snapshot.figure("wal_move_failures_total", mover.failures());
  }

  private void reportChoices(Snapshot.Builder snapshot) {
    for (Tier tier : Tier.values()) {
      snapshot.figure("wal_" + tier.text() + "_edits_total", chooser.edits(tier));
      chooser
          .requests(tier)
          .ifPresent(queue -> snapshot.figure("wal_" + tier.text() + "_queue_requests", queue));
    }
    chooser
        .thresholdBytes()
        .ifPresent(threshold -> snapshot.figure("redirect_threshold_bytes", threshold));
  }
}
