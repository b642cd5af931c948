package dev.sluice.hbase.log;

import dev.sluice.local.redirect.BlockDevice;
import dev.sluice.local.redirect.FolderQueue;
import dev.sluice.local.redirect.RedirectLimits;
import dev.sluice.local.redirect.RedirectThreshold;
import dev.sluice.local.redirect.Tier;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * The queue of a tier is the requests of its device on this node, where the first copy of a log is.
 * Devices are looked at by a clock, and not at writes: a handler that waits says nothing of what
 * the device has to do besides, and an edit that is logged to find that out is waited for by all
 * later ones of its region.
 */
final class DeviceQueues extends LogQueues {
  /** How often {@link #look} is to be called. */
  static final Duration PERIOD = Duration.ofMillis(10);

  /** Folders on the devices, such as those where a DataNode has its volumes. */
  static final Map<Tier, String> FOLDER_KEYS =
      Map.of(
          Tier.FAST, "sluice.wal.redirect.fast.directory",
          Tier.SLOW, "sluice.wal.redirect.slow.directory");

  // What was seen before says nothing of now.
  private static final long OLDEST_NANOS = Duration.ofMillis(200).toNanos();

  private record Seen(long atNanos, long fastRequests, OptionalLong slowRequests) {}

  private final Map<Tier, Supplier<OptionalLong>> devices;
  private final LongSupplier nanoTime;
  private volatile Optional<Seen> seen = Optional.empty();

  DeviceQueues(Map<Tier, Supplier<OptionalLong>> devices, LongSupplier nanoTime) {
    super(RedirectThreshold.returningInSteps());
    this.devices = devices;
    this.nanoTime = nanoTime;
  }

  /**
   * Those that a configuration names; empty if it names none.
   *
   * @param configuration gives the value of a key, or null
   * @throws IllegalArgumentException if it names one of two
   */
  static Optional<DeviceQueues> configured(UnaryOperator<String> configuration) {
    Map<Tier, Supplier<OptionalLong>> devices = new EnumMap<>(Tier.class);
    FOLDER_KEYS.forEach(
        (tier, key) -> {
          String folder = configuration.apply(key);
          if (folder != null) {
            devices.put(tier, new FolderQueue(Path.of(folder), BlockDevice.DISKSTATS)::requests);
          }
        });
    if (devices.size() == 1) {
      throw new IllegalArgumentException(
          "Of the queues of two devices one says nothing: set both of "
              + String.join(" and ", FOLDER_KEYS.values().stream().sorted().toList())
              + ", or none.");
    }
    return devices.isEmpty()
        ? Optional.empty()
        : Optional.of(new DeviceQueues(devices, System::nanoTime));
  }

  /** Looks at the devices, if there are limits. */
  void look(Optional<RedirectLimits> limits) {
    if (limits.isEmpty()) {
      forget();
      return;
    }
    OptionalLong fast = requests(Tier.FAST);
    if (fast.isEmpty()) {
      return;
    }
    threshold.observe(fast.getAsLong(), limits.get());
    seen = Optional.of(new Seen(nanoTime.getAsLong(), fast.getAsLong(), requests(Tier.SLOW)));
  }

  @Override
  boolean redirects(double sizeBytes, RedirectLimits limits) {
    return seen.filter(this::isRecent).filter(now -> isWorth(now, limits)).isPresent()
        && threshold.redirects(sizeBytes, limits);
  }

  private boolean isRecent(Seen look) {
    return nanoTime.getAsLong() - look.atNanos() < OLDEST_NANOS;
  }

  /**
   * The slow device has the syncs of the edits before to do while edits are redirected, and a sync
   * is for all that wait for it: it takes edits unless its queue is too long itself.
   */
  private static boolean isWorth(Seen look, RedirectLimits limits) {
    double longest = Math.max(look.fastRequests(), limits.queueRequests());
    return look.slowRequests().isPresent() && look.slowRequests().getAsLong() <= longest;
  }

  @Override
  void forget() {
    seen = Optional.empty();
    super.forget();
  }

  @Override
  OptionalLong requests(Tier tier) {
    return devices.get(tier).get();
  }
}
