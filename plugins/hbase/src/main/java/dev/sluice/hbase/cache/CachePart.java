package dev.sluice.hbase.cache;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockPriority;
import org.apache.hadoop.hbase.io.hfile.CacheStats;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.LruBlockCache;
import org.apache.hadoop.hbase.io.hfile.LruCachedBlock;

/**
 * One part of the cache: an LruBlockCache of upstream that also tells whose blocks it evicts. Its
 * lookups leave statistics to the whole cache.
 */
final class CachePart extends LruBlockCache {
  private final CacheStats whole;

  CachePart(long bytes, long blockBytes, Configuration conf, CacheStats whole) {
    super(bytes, blockBytes, conf);
    this.whole = whole;
  }

  @Override
  protected long evictBlock(LruCachedBlock block, boolean forSpace) {
    long freed = super.evictBlock(block, forSpace);
    if (freed == 0 || !forSpace) {
      return freed;
    }
    whole.evicted(block.getCachedTime(), block.getCacheKey().isPrimary());
    if (block.getCacheKey() instanceof FamilyBlockKey key) {
      key.family().use().evicted();
    }
    return freed;
  }

  /**
   * Takes a block over from another part, with its priority. The caller excludes other changes of
   * it.
   */
  void takeOver(LruCachedBlock block, CachePart from) {
    BlockCacheKey key = block.getCacheKey();
    BlockPriority priority = block.getPriority();
    Cacheable buffer = from.getBlock(key, false, true, false);
    if (buffer == null) {
      return;
    }
    try {
      insert(key, buffer, priority);
      from.evictBlock(key);
    } finally {
      buffer.release();
    }
  }

  private void insert(BlockCacheKey key, Cacheable buffer, BlockPriority priority) {
    cacheBlock(key, buffer, priority == BlockPriority.MEMORY);
    if (priority != BlockPriority.MULTI) {
      return;
    }
    // A second access is what makes upstream count a block as one that is read again.
    Cacheable again = getBlock(key, false, true, false);
    if (again != null) {
      again.release();
    }
  }
}
