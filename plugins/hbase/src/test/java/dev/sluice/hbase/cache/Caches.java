package dev.sluice.hbase.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToLongFunction;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlock;
import org.apache.hadoop.hbase.io.hfile.LruEviction;
import org.apache.hadoop.hbase.util.Bytes;

/** What the tests of the cache share: its sizes, and blocks of its families. */
final class Caches {
  static final long MIB = 1 << 20;
  static final long TOTAL_BYTES = 32 * MIB;
  static final int BLOCK_BYTES = 16 << 10;
  static final TableName TABLE = TableName.valueOf("orders");
  static final CacheScope HOT = new CacheScope(TABLE, "hot");
  static final CacheScope COLD = new CacheScope(TABLE, "cold");

  private Caches() {}

  static FamilyBlockCache cache() {
    // So much time passes between two readings that sizes are counted whenever they are asked for.
    AtomicLong hours = new AtomicLong();
    return new FamilyBlockCache(
        TOTAL_BYTES,
        BLOCK_BYTES,
        new Configuration(false),
        () -> TimeUnit.HOURS.toNanos(hours.getAndIncrement() / 2));
  }

  static BlockCache view(FamilyBlockCache cache, CacheScope family) {
    return cache.forFamily(family.table(), Bytes.toBytes(family.family()));
  }

  static BlockCacheKey key(CacheScope family, int block) {
    return new BlockCacheKey("file-of-" + family.family(), (long) block * BLOCK_BYTES);
  }

  /** Reads as HFileReaderImpl does: what is not cached is cached then. True for a hit. */
  static boolean read(FamilyBlockCache cache, CacheScope family, int block) {
    BlockCache view = view(cache, family);
    BlockCacheKey key = key(family, block);
    Cacheable found = view.getBlock(key, true, false, true);
    if (found != null) {
      found.release();
      return true;
    }
    if (view.getBlock(key, true, true, true) == null) {
      view.cacheBlock(key, new CountedBlock(BLOCK_BYTES), false);
    }
    return false;
  }

  static FamilyReport report(FamilyBlockCache cache, CacheScope family) {
    return cache.reports().stream()
        .filter(each -> each.scope().equals(family))
        .findFirst()
        .orElseThrow();
  }

  static List<Long> partSizes(FamilyBlockCache cache) {
    return cache.parts().stream().map(CachePart::getMaxSize).toList();
  }

  /** Evicts what is due. No thread evicts any more afterwards, so that figures can be compared. */
  static void finishEviction(FamilyBlockCache cache) {
    cache.parts().forEach(LruEviction::makeSynchronous);
    cache.parts().forEach(LruEviction::finish);
  }

  /** What the figures of a cache say agrees with the blocks that are in it. Nobody may use it. */
  static void checkFigures(FamilyBlockCache cache) {
    Set<String> seen = new HashSet<>();
    for (CachedBlock block : cache) {
      boolean isNew = seen.add(block.getFilename() + "@" + block.getOffset());
      assertTrue(isNew, "a block is in two parts");
    }
    assertEquals(seen.size(), cache.getBlockCount());
    assertEquals(seen.size(), sum(cache, FamilyReport::blocks));
    assertEquals(cache.getCurrentDataSize(), sum(cache, FamilyReport::bytes));
  }

  private static long sum(FamilyBlockCache cache, ToLongFunction<FamilyReport> figure) {
    return cache.reports().stream().mapToLong(figure).sum();
  }
}
