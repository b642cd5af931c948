package dev.sluice.hbase.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.LruBlockCache;
import org.apache.hadoop.hbase.io.hfile.LruEviction;

/** Without reservations the cache is upstream's LruBlockCache, lookup by lookup. */
class SharedPartPropertyTest {
  private static final long TOTAL_BYTES = 2 * Caches.MIB;

  record Reads(CacheScope family, int firstBlock, int count, boolean inMemory) {}

  @Provide
  Arbitrary<List<Reads>> reads() {
    return Combinators.combine(
            Arbitraries.of(Caches.HOT, Caches.COLD),
            Arbitraries.integers().between(0, 150),
            Arbitraries.integers().between(1, 200),
            Arbitraries.of(false, false, false, true))
        .as(Reads::new)
        .list()
        .ofMinSize(1)
        .ofMaxSize(20);
  }

  @Property(tries = 50)
  void everyLookupAgrees(@ForAll("reads") List<Reads> sequence) {
    Configuration conf = new Configuration(false);
    LruBlockCache upstream = new LruBlockCache(TOTAL_BYTES, Caches.BLOCK_BYTES, conf);
    FamilyBlockCache cache = new FamilyBlockCache(TOTAL_BYTES, Caches.BLOCK_BYTES, conf);
    // When a thread evicts, and how often, is its own affair.
    LruEviction.makeSynchronous(upstream);
    cache.parts().forEach(LruEviction::makeSynchronous);
    try {
      for (Reads reads : sequence) {
        for (int block = reads.firstBlock(); block < reads.firstBlock() + reads.count(); block++) {
          boolean expected = read(upstream, reads, block);
          assertEquals(expected, read(Caches.view(cache, reads.family()), reads, block));
        }
      }
      assertEquals(upstream.getCurrentSize(), cache.getCurrentSize());
      assertEquals(upstream.getStats().getHitCount(), cache.getStats().getHitCount());
      assertEquals(upstream.getStats().getMissCount(), cache.getStats().getMissCount());
      assertEquals(upstream.getStats().getEvictedCount(), cache.getStats().getEvictedCount());
    } finally {
      upstream.shutdown();
      cache.shutdown();
    }
  }

  private static boolean read(BlockCache cache, Reads reads, int block) {
    Cacheable found = cache.getBlock(Caches.key(reads.family(), block), true, false, true);
    if (found != null) {
      found.release();
      return true;
    }
    cache.cacheBlock(
        Caches.key(reads.family(), block), new CountedBlock(Caches.BLOCK_BYTES), reads.inMemory());
    return false;
  }
}
