package dev.sluice.hbase.cache;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.CacheStats;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlock;
import org.apache.hadoop.hbase.io.hfile.FirstLevelBlockCache;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * The block cache of a region server, with a part of its own for each reservation; everything else
 * is in the shared part, which behaves as upstream's LruBlockCache. Without reservations there is
 * no other part. Named by hfile.block.cache.policy.
 */
public final class FamilyBlockCache implements FirstLevelBlockCache {
  private final PartedCacheStats stats = new PartedCacheStats();
  private final CacheParts parts;
  private final FamilySizes sizes;
  private final Map<CacheScope, FamilyView> families = new ConcurrentHashMap<>();

  /** The constructor that the patched BlockCacheFactory calls. */
  public FamilyBlockCache(long bytes, long blockBytes, Configuration conf) {
    this(bytes, blockBytes, conf, System::nanoTime);
  }

  FamilyBlockCache(long bytes, long blockBytes, Configuration conf, LongSupplier nanoTime) {
    parts = new CacheParts(bytes, blockBytes, conf, stats, families.values());
    sizes = new FamilySizes(nanoTime);
  }

  /** The cache that the blocks of a family go to; the same one at each call. */
  public BlockCache forFamily(TableName table, byte[] family) {
    return family(new CacheScope(table, Bytes.toString(family)));
  }

  private FamilyView family(CacheScope scope) {
    FamilyView known = families.get(scope);
    return known != null ? known : parts.addFamily(scope, families, this);
  }

  /**
   * Keeps memory for a family or a table, or changes how much is kept; 0 keeps none.
   *
   * @throws ReservationRefused when the bounds of the cache do not allow it; nothing has changed
   *     then
   */
  public void reserve(CacheScope scope, long bytes) throws ReservationRefused {
    parts.reserve(scope, bytes);
  }

  /**
   * Whether {@link #reserve} would be accepted now.
   *
   * @param reserved what is asked for each scope already, which may not be reserved yet
   */
  public void checkReservation(CacheScope scope, double bytes, Map<CacheScope, Long> reserved)
      throws ReservationRefused {
    parts.check(scope, bytes, reserved);
  }

  /** Gives the memory back to the shared part, with the blocks that are in it. */
  public void release(CacheScope scope) {
    parts.release(scope);
  }

  /** Bytes kept for each reservation now. */
  public Map<CacheScope, Long> reservations() {
    return parts.reservations();
  }

  /** How much may be reserved in all. */
  public long reservableBytes() {
    return parts.boundBytes();
  }

  /** The shared part and one for each reservation. */
  List<CachePart> parts() {
    return parts.all();
  }

  /** Every family that has had files open on this server. Sizes may be some time old. */
  public List<FamilyReport> reports() {
    Map<FamilyView, FamilySizes.Size> counted = sizes.of(parts.all());
    List<FamilyReport> reports = new ArrayList<>();
    for (FamilyView family : families.values()) {
      FamilySizes.Size size = counted.getOrDefault(family, FamilySizes.Size.NONE);
      FamilyUse use = family.use();
      reports.add(
          new FamilyReport(
              family.scope(),
              size.heapBytes(),
              size.blocks(),
              use.hits(),
              use.misses(),
              use.evictions()));
    }
    return reports;
  }

  void insert(FamilyView family, BlockCacheKey key, Cacheable block, boolean inMemory) {
    parts.insert(family, key, block, inMemory);
  }

  /** A block whose family nobody has named. */
  @Override
  public void cacheBlock(BlockCacheKey key, Cacheable block, boolean inMemory) {
    parts.insert(null, key, block, inMemory);
  }

  @Override
  public void cacheBlock(BlockCacheKey key, Cacheable block) {
    cacheBlock(key, block, false);
  }

  @Override
  public Cacheable getBlock(
      BlockCacheKey key, boolean caching, boolean repeat, boolean updateCacheMetrics) {
    Cacheable block = parts.find(key, caching, repeat);
    if (!updateCacheMetrics) {
      return block;
    }
    if (block != null) {
      stats.hit(caching, key.isPrimary(), key.getBlockType());
    } else if (!repeat) {
      stats.miss(caching, key.isPrimary(), key.getBlockType());
    }
    return block;
  }

  @Override
  public boolean containsBlock(BlockCacheKey key) {
    return parts.partWith(key).isPresent();
  }

  @Override
  public boolean evictBlock(BlockCacheKey key) {
    return parts.evictBlock(key);
  }

  @Override
  public int evictBlocksByHfileName(String hfileName) {
    return parts.evictFile(hfileName);
  }

  @Override
  public void setVictimCache(BlockCache victimCache) {
    parts.setVictimCache(victimCache);
  }

  @Override
  public CacheStats getStats() {
    return stats;
  }

  @Override
  public void shutdown() {
    parts.shutdown();
  }

  @Override
  public long size() {
    return getMaxSize();
  }

  @Override
  public long getMaxSize() {
    return parts.totalBytes();
  }

  @Override
  public void setMaxSize(long bytes) {
    parts.setTotalBytes(bytes);
  }

  @Override
  public long getFreeSize() {
    return getMaxSize() - getCurrentSize();
  }

  @Override
  public long getCurrentSize() {
    return sum(CachePart::getCurrentSize);
  }

  @Override
  public long getCurrentDataSize() {
    return sum(CachePart::getCurrentDataSize);
  }

  @Override
  public long getBlockCount() {
    return sum(CachePart::getBlockCount);
  }

  @Override
  public long getDataBlockCount() {
    return sum(CachePart::getDataBlockCount);
  }

  @Override
  public long heapSize() {
    return sum(CachePart::heapSize);
  }

  private long sum(ToLongFunction<CachePart> figure) {
    return parts.all().stream().mapToLong(figure).sum();
  }

  @Override
  public Iterator<CachedBlock> iterator() {
    Collection<CachePart> all = parts.all();
    List<Iterator<CachedBlock>> iterators = new ArrayList<>(all.size());
    all.forEach(part -> iterators.add(part.iterator()));
    return new ChainedBlocks(iterators.iterator());
  }

  @Override
  public BlockCache[] getBlockCaches() {
    return parts.victimCache().map(victim -> new BlockCache[] {this, victim}).orElse(null);
  }
}
