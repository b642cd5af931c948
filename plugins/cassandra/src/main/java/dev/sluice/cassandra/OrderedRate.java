package dev.sluice.cassandra;

import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import dev.sluice.local.protocol.Refusal;
import java.util.Optional;
import org.apache.cassandra.config.DataRateSpec;

/** Orders on the pace as rates that Cassandra's limiters take. */
public final class OrderedRate {
  /**
   * Least rate that can be ordered, in bytes per second. Who has passed a limiter pays with a sleep
   * before the next time that nothing ends: with less it would sleep on long after the order.
   */
  public static final long LEAST = 1L << 20;

  // What Cassandra takes for no limit.
  private static final long UNLIMITED = 0;
  // More than any disk or network does, and what Cassandra's own conversions hold.
  private static final double MOST = 1L << 50;

  private OrderedRate() {}

  /** In bytes per second, 0 for no limit; empty where the store's own rate holds. */
  public static Optional<Long> of(Setting setting) {
    return switch (setting.name()) {
      case RATE_BYTES_PER_SECOND -> Optional.of((long) Math.min(setting.number(), MOST));
      case FULL -> Optional.of(UNLIMITED);
      default -> Optional.empty();
    };
  }

  /** Refuses a rate that would not end with its order. */
  public static void check(Setting setting) throws Refusal {
    if (setting.name() == SettingName.RATE_BYTES_PER_SECOND && setting.number() < LEAST) {
      throw Refusal.refused(
          "what goes at less than " + LEAST + " B/s would sleep on after its order has ended",
          "Order that rate or a higher one.");
    }
  }

  /** The rate as the node's configuration has it. */
  public static DataRateSpec.LongBytesPerSecondBound configured(long bytesPerSecond) {
    return new DataRateSpec.LongBytesPerSecondBound(bytesPerSecond);
  }
}
