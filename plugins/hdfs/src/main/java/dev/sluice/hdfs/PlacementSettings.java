package dev.sluice.hdfs;

import dev.sluice.local.lease.Aspect;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.redirect.RedirectLimits;
import dev.sluice.local.redirect.Tier;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.DFSConfigKeys;

/** What the DataNode's configuration says of redirects, and what orders say instead. */
final class PlacementSettings {
  static final String KIND = "log-placement";

  /** L; without it nothing is redirected unless an order says so. */
  static final String QUEUE_KEY = "sluice.redirect.queue.requests";

  /** S_max. */
  static final String SIZE_KEY = "sluice.redirect.size.bytes";

  /** P, as a part of S_max. */
  static final String STEP_KEY = "sluice.redirect.step.ratio";

  /** Block sizes of the files that may be redirected, with commas between; none for all files. */
  static final String BLOCK_SIZES_KEY = "sluice.redirect.block.bytes";

  private static final double DEFAULT_STEP_RATIO = 0.25;

  private final LeaseStore leases;
  private final Optional<Double> queueRequests;
  private final double sizeBytes;
  private final double stepRatio;
  private final Set<Long> blockSizes;

  /** Reads them; raises IllegalArgumentException where a value is none. */
  PlacementSettings(LeaseStore leases, Configuration conf) {
    this.leases = leases;
    queueRequests = Optional.ofNullable(conf.getTrimmed(QUEUE_KEY)).map(Double::valueOf);
    // HBase gives its logs blocks of twice the size of others.
    sizeBytes = conf.getDouble(SIZE_KEY, 2.0 * defaultBlockBytes(conf));
    stepRatio = conf.getDouble(STEP_KEY, DEFAULT_STEP_RATIO);
    blockSizes =
        Arrays.stream(conf.getTrimmedStrings(BLOCK_SIZES_KEY))
            .map(Long::valueOf)
            .collect(Collectors.toUnmodifiableSet());
    refuse(QUEUE_KEY, queueRequests.orElse(0.0), Double.MAX_VALUE);
    refuse(SIZE_KEY, sizeBytes, Double.MAX_VALUE);
    refuse(STEP_KEY, stepRatio, 1);
  }

  private static long defaultBlockBytes(Configuration conf) {
    return conf.getLongBytes(
        DFSConfigKeys.DFS_BLOCK_SIZE_KEY, DFSConfigKeys.DFS_BLOCK_SIZE_DEFAULT);
  }

  private static void refuse(String key, double value, double maximum) {
    if (!(value >= 0 && value <= maximum)) {
      throw new IllegalArgumentException(key + " is " + value + ", not from 0 to " + maximum);
    }
  }

  /** The tier that an order names. */
  Optional<Tier> ordered() {
    return leases
        .find(KIND, Aspect.TIER, Scope.SERVER)
        .flatMap(lease -> Tier.find(lease.setting().text()));
  }

  /** What redirects are decided by; empty if they are not to be. */
  Optional<RedirectLimits> limits() {
    return number(Aspect.REDIRECT_QUEUE)
        .or(() -> queueRequests)
        .map(
            queue ->
                new RedirectLimits(
                    queue,
                    number(Aspect.REDIRECT_SIZE).orElse(sizeBytes),
                    number(Aspect.REDIRECT_STEP).orElse(stepRatio)));
  }

  private Optional<Double> number(Aspect aspect) {
    return leases.find(KIND, aspect, Scope.SERVER).map(lease -> lease.setting().number());
  }

  /** Whether files of a block size are of a stream that may be redirected. */
  boolean mayRedirect(long blockBytes) {
    return blockSizes.isEmpty() || blockSizes.contains(blockBytes);
  }
}
