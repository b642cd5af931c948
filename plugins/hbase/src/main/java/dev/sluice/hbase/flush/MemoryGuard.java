package dev.sluice.hbase.flush;

import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.plugin.OrderGuard;
import java.util.Map;
import java.util.Optional;
import java.util.function.DoubleSupplier;
import java.util.function.Supplier;

/**
 * Ends every order on flushes before a region, or the server, has so much in memory that it refuses
 * writes.
 */
final class MemoryGuard extends OrderGuard {
  // Of the size at which the store flushes by force.
  private static final double END_PRESSURE = 0.9;
  private static final double RELEASE_PRESSURE = 0.7;

  private final Supplier<Map<Object, MemoryLimits>> regions;
  private final DoubleSupplier pressure;

  /**
   * Makes one.
   *
   * @param regions by a name in words
   * @param pressure memory of all regions, as a share of where the store flushes by force
   */
  MemoryGuard(
      LeaseStore leases, Supplier<Map<Object, MemoryLimits>> regions, DoubleSupplier pressure) {
    super(leases, FlushPart.KIND, "Try again when it has been flushed.");
    this.regions = regions;
    this.pressure = pressure;
  }

  synchronized void look() {
    Map<Object, MemoryLimits> now = regions.get();
    double share = pressure.getAsDouble();
    Optional<Map.Entry<Object, MemoryLimits>> full =
        now.entrySet().stream().filter(region -> region.getValue().atEnd()).findFirst();
    if (full.isPresent()) {
      long bytes = full.get().getValue().bytes();
      trip("%s has %d bytes in memory".formatted(full.get().getKey(), bytes));
    } else if (share >= END_PRESSURE) {
      trip("the server has %.0f%% of the memory in use that it may".formatted(100 * share));
    } else if (isTripped()
        && share < RELEASE_PRESSURE
        && now.values().stream().allMatch(MemoryLimits::belowRelease)) {
      release();
    }
  }
}
