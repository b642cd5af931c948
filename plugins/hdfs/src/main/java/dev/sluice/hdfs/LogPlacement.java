package dev.sluice.hdfs;

import dev.sluice.local.lease.Aspect;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import dev.sluice.local.protocol.Refusal;
import dev.sluice.local.protocol.Snapshot;
import dev.sluice.local.protocol.TaskKind;
import dev.sluice.local.redirect.RedirectLimits;
import dev.sluice.local.redirect.RedirectSettings;
import dev.sluice.local.redirect.RedirectThreshold;
import dev.sluice.local.redirect.Tier;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which tier a replica goes to that a client is about to write. Only what was asked for on the fast
 * tier is redirected, and only to a volume of the slow one that has room and, unless an order names
 * the tier, nothing to do. What cannot be known redirects nothing.
 */
final class LogPlacement implements TaskKind {
  private static final Logger LOG = LoggerFactory.getLogger(LogPlacement.class);

  // What volumes of a tier are declared as in the DataNode's configuration.
  static final StorageType FAST_TYPE = StorageType.SSD;
  private static final StorageType SLOW_TYPE = StorageType.DISK;

  private final PlacementSettings settings;
  private final VolumeQueues queues;
  private final Supplier<? extends Collection<? extends FsVolumeSpi>> volumes;
  private final RedirectThreshold threshold = RedirectThreshold.returningAtOnce();
  private final LongAdder asked = new LongAdder();
  private final Map<String, LongAdder> redirectedTo = new ConcurrentHashMap<>();

  /**
   * Makes it.
   *
   * @param volumes those of the DataNode now, none while it starts
   */
  LogPlacement(
      PlacementSettings settings,
      VolumeQueues queues,
      Supplier<? extends Collection<? extends FsVolumeSpi>> volumes) {
    this.settings = settings;
    this.queues = queues;
    this.volumes = volumes;
  }

  /**
   * The volumes that a replica is redirected to, one of which is to be chosen; empty if it goes
   * where it was asked for.
   *
   * @param blockBytes size that blocks of the file may have
   */
  <V extends FsVolumeSpi> List<V> targets(List<V> all, StorageType requested, long blockBytes) {
    if (requested != FAST_TYPE) {
      return List.of();
    }
    asked.increment();
    if (!settings.mayRedirect(blockBytes)) {
      return List.of();
    }
    Optional<Tier> ordered = settings.redirects().ordered();
    if (ordered.isPresent()) {
      return ordered.get() == Tier.SLOW ? withRoom(all, blockBytes) : List.of();
    }
    Optional<RedirectLimits> limits = settings.redirects().limits();
    if (limits.isEmpty()) {
      return List.of();
    }
    boolean isKnown = observe(all, limits.get());
    if (!isKnown || !threshold.redirects(blockBytes, limits.get())) {
      return List.of();
    }
    return withRoom(all, blockBytes).stream().filter(queues::isIdle).toList();
  }

  /** Takes note of a replica that was redirected. */
  void redirected(FsVolumeSpi volume) {
    redirectedTo.computeIfAbsent(volume.getStorageID(), id -> new LongAdder()).increment();
  }

  /** Looks at the queue of the fast tier. */
  void tick() {
    Optional<RedirectLimits> limits = settings.redirects().limits();
    if (limits.isEmpty()) {
      // What it has lost is from a time that later limits have nothing to do with.
      threshold.reset();
      return;
    }
    observe(volumes.get(), limits.get());
  }

  /** Says whether the queue is known. */
  private boolean observe(Collection<? extends FsVolumeSpi> now, RedirectLimits limits) {
    // An SSD that is full has nothing to do, and takes nothing.
    List<? extends FsVolumeSpi> open =
        now.stream()
            .filter(volume -> volume.getStorageType() == FAST_TYPE)
            .filter(volume -> hasRoom(volume, settings.defaultBlockBytes()))
            .toList();
    OptionalLong queue = queues.shortest(open);
    // One that is not known is none to the threshold, for when it is known again.
    threshold.observe(queue.orElse(0), limits);
    return queue.isPresent();
  }

  private static <V extends FsVolumeSpi> List<V> withRoom(List<V> all, long blockBytes) {
    return all.stream().filter(LogPlacement::isSlow).filter(v -> hasRoom(v, blockBytes)).toList();
  }

  private static boolean isSlow(FsVolumeSpi volume) {
    return volume.getStorageType() == SLOW_TYPE;
  }

  private static boolean hasRoom(FsVolumeSpi volume, long blockBytes) {
    try {
      return volume.getAvailable() > blockBytes;
    } catch (IOException e) {
      LOG.debug("the room of {} is not known: it counts as none", volume, e);
      return false;
    }
  }

  @Override
  public String kind() {
    return RedirectSettings.KIND;
  }

  @Override
  public List<SettingName> settings() {
    return RedirectSettings.NAMES;
  }

  @Override
  public void checkOrder(Scope scope, Setting setting) throws Refusal {
    RedirectSettings.check(setting);
    boolean isSlowTier = setting.aspect() == Aspect.TIER && Tier.parse(setting.text()) == Tier.SLOW;
    if (!isSlowTier) {
      return;
    }
    Collection<? extends FsVolumeSpi> now = volumes.get();
    if (now.isEmpty()) {
      throw Refusal.unavailable("this DataNode has no volumes yet", "Try again once it serves.");
    }
    if (now.stream().noneMatch(LogPlacement::isSlow)) {
      throw Refusal.refused(
          "this DataNode has no volume of type " + SLOW_TYPE,
          "Add one as [DISK]FOLDER to dfs.datanode.data.dir.");
    }
  }

  @Override
  public void report(Snapshot.Builder snapshot) {
    snapshot.figure("redirect_asked_replicas_total", asked.sum());
    snapshot.figure(
        "redirect_redirected_replicas_total",
        redirectedTo.values().stream().mapToLong(LongAdder::sum).sum());
    settings
        .redirects()
        .limits()
        .ifPresent(
            limits -> snapshot.figure("redirect_threshold_bytes", threshold.sizeBytes(limits)));
    for (FsVolumeSpi volume : volumes.get()) {
      VolumeFigures.report(snapshot, volume, queues.read(volume), redirects(volume));
    }
  }

  private long redirects(FsVolumeSpi volume) {
    LongAdder count = redirectedTo.get(volume.getStorageID());
    return count == null ? 0 : count.sum();
  }
}
