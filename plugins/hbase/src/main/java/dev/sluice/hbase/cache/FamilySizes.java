package dev.sluice.hbase.cache;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.hadoop.hbase.io.hfile.LruBlocks;
import org.apache.hadoop.hbase.io.hfile.LruCachedBlock;

/**
 * How much of the cache each family has. Counting walks through all blocks, so it is done again
 * only when a hundred times as long has passed as it took: one percent of a core at most.
 */
final class FamilySizes {
  private static final long REST_FACTOR = 100;
  private static final long LEAST_REST_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** What the blocks of a family take. */
  record Size(long heapBytes, long blocks) {
    static final Size NONE = new Size(0, 0);

    Size plus(Size other) {
      return new Size(heapBytes + other.heapBytes, blocks + other.blocks);
    }
  }

  private final LongSupplier nanoTime;
  private Map<FamilyView, Size> counted;
  private long countedNanos;
  private long restNanos;

  FamilySizes(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  synchronized Map<FamilyView, Size> of(Collection<CachePart> parts) {
    long start = nanoTime.getAsLong();
    if (counted != null && start - countedNanos < restNanos) {
      return counted;
    }
    Map<FamilyView, Size> sizes = new HashMap<>();
    for (CachePart part : parts) {
      LruBlocks.forEach(part, block -> add(block, sizes));
    }
    counted = sizes;
    countedNanos = nanoTime.getAsLong();
    restNanos = Math.max(LEAST_REST_NANOS, REST_FACTOR * (countedNanos - start));
    return sizes;
  }

  private static void add(LruCachedBlock block, Map<FamilyView, Size> sizes) {
    if (block.getCacheKey() instanceof FamilyBlockKey key) {
      sizes.merge(key.family(), new Size(block.heapSize(), 1), Size::plus);
    }
  }
}
