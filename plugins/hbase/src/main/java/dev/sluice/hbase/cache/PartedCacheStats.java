package dev.sluice.hbase.cache;

import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;
import org.apache.hadoop.hbase.io.hfile.CacheStats;
import org.apache.hadoop.hbase.io.hfile.LruBlockCache;

/**
 * Statistics of the whole cache. Hits, misses and evicted blocks are counted here; what upstream
 * counts in each part alone is summed up, with that of parts that have ended.
 */
final class PartedCacheStats extends CacheStats {
  private final List<CacheStats> parts = new ArrayList<>();
  private long endedRuns;
  private long endedRefusals;

  PartedCacheStats() {
    super(LruBlockCache.class.getSimpleName());
  }

  synchronized void add(CachePart part) {
    parts.add(part.getStats());
  }

  synchronized void end(CachePart part) {
    endedRuns += part.getStats().getEvictionCount();
    endedRefusals += part.getStats().getFailedInserts();
    parts.remove(part.getStats());
  }

  @Override
  public synchronized long getEvictionCount() {
    return endedRuns + sum(CacheStats::getEvictionCount);
  }

  @Override
  public synchronized long getFailedInserts() {
    return endedRefusals + sum(CacheStats::getFailedInserts);
  }

  private long sum(ToLongFunction<CacheStats> figure) {
    return parts.stream().mapToLong(figure).sum();
  }
}
