package dev.sluice.hbase.cache;

import java.util.Iterator;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.CacheStats;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlock;

/**
 * The cache as the files of one family see it: new blocks go to the part that the family has now,
 * and are found wherever they are. Sizes and statistics are those of the whole cache.
 */
final class FamilyView implements BlockCache {
  private final FamilyBlockCache whole;
  private final CacheScope scope;
  private final FamilyUse use = new FamilyUse();
  // The part for new blocks, then the others in which the family may have blocks.
  private volatile CachePart[] places;

  FamilyView(FamilyBlockCache whole, CacheScope scope, CachePart[] places) {
    this.whole = whole;
    this.scope = scope;
    this.places = places;
  }

  CacheScope scope() {
    return scope;
  }

  FamilyUse use() {
    return use;
  }

  CachePart[] places() {
    return places;
  }

  /** The caller holds off insertions. */
  void moveTo(CachePart[] newPlaces) {
    places = newPlaces;
  }

  @Override
  public void cacheBlock(BlockCacheKey key, Cacheable block, boolean inMemory) {
    whole.insert(this, key, block, inMemory);
  }

  @Override
  public void cacheBlock(BlockCacheKey key, Cacheable block) {
    cacheBlock(key, block, false);
  }

  @Override
  public Cacheable getBlock(
      BlockCacheKey key, boolean caching, boolean repeat, boolean updateCacheMetrics) {
    Cacheable block = find(key, caching, repeat);
    if (!updateCacheMetrics) {
      return block;
    }
    if (block != null) {
      use.hit();
      whole.getStats().hit(caching, key.isPrimary(), key.getBlockType());
    } else if (!repeat) {
      use.miss();
      whole.getStats().miss(caching, key.isPrimary(), key.getBlockType());
    }
    return block;
  }

  private Cacheable find(BlockCacheKey key, boolean caching, boolean repeat) {
    CachePart[] searched = places;
    Cacheable block = findIn(searched, key, caching, repeat);
    if (block != null || searched.length == 1 && searched == places) {
      return block;
    }
    // While blocks move from part to part, one may slip past the first search.
    return findIn(places, key, caching, true);
  }

  private static Cacheable findIn(
      CachePart[] searched, BlockCacheKey key, boolean caching, boolean repeat) {
    for (CachePart part : searched) {
      Cacheable block = part.getBlock(key, caching, repeat, false);
      if (block != null) {
        return block;
      }
    }
    return null;
  }

  @Override
  public boolean evictBlock(BlockCacheKey key) {
    return whole.evictBlock(key);
  }

  @Override
  public int evictBlocksByHfileName(String hfileName) {
    return whole.evictBlocksByHfileName(hfileName);
  }

  @Override
  public CacheStats getStats() {
    return whole.getStats();
  }

  /** The whole cache is the region server's to shut down. */
  @Override
  public void shutdown() {}

  @Override
  public long size() {
    return whole.size();
  }

  @Override
  public long getMaxSize() {
    return whole.getMaxSize();
  }

  @Override
  public long getFreeSize() {
    return whole.getFreeSize();
  }

  @Override
  public long getCurrentSize() {
    return whole.getCurrentSize();
  }

  @Override
  public long getCurrentDataSize() {
    return whole.getCurrentDataSize();
  }

  @Override
  public long getBlockCount() {
    return whole.getBlockCount();
  }

  @Override
  public long getDataBlockCount() {
    return whole.getDataBlockCount();
  }

  @Override
  public Iterator<CachedBlock> iterator() {
    return whole.iterator();
  }

  @Override
  public BlockCache[] getBlockCaches() {
    return whole.getBlockCaches();
  }
}
