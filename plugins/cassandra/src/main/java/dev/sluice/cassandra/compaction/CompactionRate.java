package dev.sluice.cassandra.compaction;

import dev.sluice.cassandra.OrderedRate;
import dev.sluice.cassandra.OverriddenValue;
import dev.sluice.local.lease.Setting;
import java.util.Optional;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.compaction.CompactionManager;

/**
 * The throughput of all compactions together, as {@code nodetool setcompactionthroughput} changes
 * it, but in bytes per second; the management bean knows whole MiB only.
 */
final class CompactionRate {
  private final OverriddenValue<Long> throughput =
      new OverriddenValue<>(CompactionRate::configured, CompactionRate::set);

  /** Follows the order on the pace that is in force. */
  void follow(Optional<Setting> order) {
    throughput.follow(order.flatMap(OrderedRate::of));
  }

  /** The store's own, in bytes per second; 0 for none. */
  long own() {
    return throughput.own();
  }

  private static long configured() {
    return (long) DatabaseDescriptor.getCompactionThroughputBytesPerSec();
  }

  private static void set(long bytesPerSecond) {
    // Those that begin read this one, those that run have the other.
    DatabaseDescriptor.getRawConfig().compaction_throughput =
        OrderedRate.configured(bytesPerSecond);
    CompactionManager.instance.setRateInBytes(bytesPerSecond);
  }
}
