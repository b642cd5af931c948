package dev.sluice.hbase.flush;

import dev.sluice.local.lease.Scope;
import dev.sluice.local.protocol.Snapshot;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.WeakHashMap;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.Region;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;

/** What the regions of the server have in memory, which is the debt of flushes. */
final class RegionMemory {
  private static final class Sum {
    private long bytes;
    private double largestShare;
    private double triggerShare;

    private void add(MemoryLimits limits, long dataBytes) {
      bytes += dataBytes;
      if (limits.share() >= largestShare) {
        largestShare = limits.share();
        triggerShare = limits.blocking() == 0 ? 0 : (double) limits.trigger() / limits.blocking();
      }
    }

    /** The bounds are those of one region: they are scaled to the fullest one. */
    private Snapshot.Debt toDebt(Scope scope) {
      long limitBytes = largestShare > 0 ? (long) (bytes / largestShare) : 0;
      long triggerBytes = (long) (limitBytes * triggerShare);
      return new Snapshot.Debt(FlushPart.KIND, scope.text(), bytes, triggerBytes, limitBytes, 0);
    }
  }

  private final RegionServerServices services;

  // A region keeps the one of its opening, whatever its configuration says later: no more than the
  // least that was seen.
  private final Map<HRegion, Long> multipliers = Collections.synchronizedMap(new WeakHashMap<>());

  RegionMemory(RegionServerServices services) {
    this.services = services;
  }

  /** The regions of a scope; system tables only where one is named. */
  List<HRegion> regions(Scope scope) {
    List<HRegion> regions = new ArrayList<>();
    for (Region region : services.getRegions()) {
      HRegion open = (HRegion) region;
      boolean meant =
          scope.table().isEmpty()
              ? !open.getRegionInfo().getTable().isSystemTable()
              : scope.table().equals(tableOf(open));
      if (meant) {
        regions.add(open);
      }
    }
    return regions;
  }

  static String tableOf(HRegion region) {
    return region.getTableDescriptor().getTableName().getNameAsString();
  }

  MemoryLimits limits(HRegion region) {
    long multiplier = multipliers.merge(region, multiplier(region), Math::min);
    long trigger = region.getMemStoreFlushSize();
    return new MemoryLimits(
        region.getMemStoreHeapSize() + region.getMemStoreOffHeapSize(),
        trigger,
        trigger * multiplier);
  }

  /** As of {@code HRegion.setHTableSpecificConf}: a table may have its own. */
  private static long multiplier(HRegion region) {
    return region
        .getReadOnlyConfiguration()
        .getLong(
            HConstants.HREGION_MEMSTORE_BLOCK_MULTIPLIER,
            HConstants.DEFAULT_HREGION_MEMSTORE_BLOCK_MULTIPLIER);
  }

  /** Of all regions, system tables with them: their flushes wait for the same threads. */
  Map<Object, MemoryLimits> limits() {
    Map<Object, MemoryLimits> limits = new LinkedHashMap<>();
    for (Region region : services.getRegions()) {
      limits.put(region, limits((HRegion) region));
    }
    return limits;
  }

  void report(Snapshot.Builder snapshot) {
    Map<Scope, Sum> sums = new LinkedHashMap<>();
    for (HRegion region : regions(Scope.SERVER)) {
      sums.computeIfAbsent(Scope.ofTable(tableOf(region)), scope -> new Sum())
          .add(limits(region), region.getMemStoreDataSize());
    }
    sums.forEach((scope, sum) -> snapshot.debt(sum.toDebt(scope)));
  }
}
