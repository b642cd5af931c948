package dev.sluice.hbase.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FamilyBlockCacheTest {
  private static final int WORKING_SET_BLOCKS = 500;
  private final FamilyBlockCache cache = Caches.cache();

  @AfterEach
  void shutDown() {
    cache.shutdown();
  }

  private void readWorkingSet(int times) {
    for (int i = 0; i < times; i++) {
      for (int block = 0; block < WORKING_SET_BLOCKS; block++) {
        Caches.read(cache, Caches.HOT, block);
      }
    }
  }

  private void scanCold() {
    for (int block = 0; block < 10_000; block++) {
      Caches.read(cache, Caches.COLD, block);
      Caches.finishEviction(cache);
    }
  }

  private int cachedOfWorkingSet() {
    int cached = 0;
    for (int block = 0; block < WORKING_SET_BLOCKS; block++) {
      if (cache.containsBlock(Caches.key(Caches.HOT, block))) {
        cached++;
      }
    }
    return cached;
  }

  @ParameterizedTest
  @ValueSource(strings = {"80%", "1", "-0.1", "NaN", "0.5d", ""})
  void aShareThatIsNoneIsNamedWithItsKey(String value) {
    Configuration conf = new Configuration(false);
    conf.set(CacheParts.RESERVED_SHARE_KEY, value);
    IllegalArgumentException wrong =
        assertThrows(
            IllegalArgumentException.class,
            () -> new FamilyBlockCache(Caches.TOTAL_BYTES, Caches.BLOCK_BYTES, conf));
    assertTrue(
        wrong.getMessage().startsWith(CacheParts.RESERVED_SHARE_KEY + " is \"" + value + "\""),
        wrong.getMessage());
  }

  @Test
  void aFamilyHasOneViewForAllItsRegions() {
    assertSame(Caches.view(cache, Caches.HOT), Caches.view(cache, Caches.HOT));
  }

  @Test
  void reservedBlocksOutliveTheScanOfAnotherFamily() throws ReservationRefused {
    readWorkingSet(1);
    cache.reserve(Caches.HOT, 12 * Caches.MIB);
    scanCold();
    assertEquals(WORKING_SET_BLOCKS, cachedOfWorkingSet());
  }

  @Test
  void withoutReservationTheScanWins() {
    readWorkingSet(1);
    scanCold();
    assertTrue(cachedOfWorkingSet() < WORKING_SET_BLOCKS / 5);
  }

  @Test
  void theEndOfAReservationKeepsTheBlocks() throws ReservationRefused {
    cache.reserve(Caches.HOT, 12 * Caches.MIB);
    readWorkingSet(2);
    cache.release(Caches.HOT);
    assertEquals(WORKING_SET_BLOCKS, cachedOfWorkingSet());
    assertTrue(cache.reservations().isEmpty());
    assertEquals(1, Caches.partSizes(cache).size());
    assertEquals(Caches.TOTAL_BYTES, Caches.partSizes(cache).get(0));
  }

  @Test
  void aSmallerReservationKeepsTheBlocksToo() throws ReservationRefused {
    cache.reserve(Caches.HOT, 12 * Caches.MIB);
    readWorkingSet(2);
    cache.reserve(Caches.HOT, 4 * Caches.MIB);
    assertEquals(WORKING_SET_BLOCKS, cachedOfWorkingSet());
    assertEquals(4 * Caches.MIB, cache.reservations().get(Caches.HOT));
  }

  @Test
  void aReservationOfATableServesItsFamiliesWithoutTheirOwn() throws ReservationRefused {
    readWorkingSet(1);
    cache.reserve(CacheScope.ofTable(Caches.TABLE), 12 * Caches.MIB);
    cache.reserve(Caches.COLD, 2 * Caches.MIB);
    scanCold();
    assertEquals(WORKING_SET_BLOCKS, cachedOfWorkingSet());
    assertTrue(Caches.report(cache, Caches.COLD).evictions() > 0);
  }

  @Test
  void whileBlocksMoveIntoAPartAllTogetherAreNoLargerThanTheCache() throws ReservationRefused {
    AtomicLong largest = new AtomicLong();
    for (int block = 0; block < WORKING_SET_BLOCKS; block++) {
      Runnable note = () -> largest.accumulateAndGet(sumOfParts(), Math::max);
      Caches.view(cache, Caches.HOT)
          .cacheBlock(Caches.key(Caches.HOT, block), new CountedBlock(Caches.BLOCK_BYTES, note));
    }
    cache.reserve(Caches.HOT, 2 * Caches.MIB);
    largest.set(0);
    cache.reserve(Caches.HOT, 12 * Caches.MIB);
    assertTrue(largest.get() > 0, "nothing has moved");
    // A block, and what the cache needs to know of it.
    assertTrue(largest.get() <= Caches.TOTAL_BYTES + 2 * Caches.BLOCK_BYTES, largest::toString);
    assertEquals(Caches.TOTAL_BYTES, sumOfParts());
  }

  private long sumOfParts() {
    return Caches.partSizes(cache).stream().mapToLong(Long::longValue).sum();
  }

  @Test
  void aReservationBeyondTheBoundIsRefusedAndChangesNothing() throws ReservationRefused {
    cache.reserve(Caches.HOT, 20 * Caches.MIB);
    ReservationRefused refused =
        assertThrows(ReservationRefused.class, () -> cache.reserve(Caches.COLD, 6 * Caches.MIB));
    assertTrue(refused.getMessage().contains("orders/cold"), refused.getMessage());
    assertTrue(refused.hint().contains("Ask for at most"), refused.hint());
    assertEquals(1, cache.reservations().size());
  }

  @Test
  void aReservationBelowTheMinimumIsRefusedAndZeroKeepsNone() throws ReservationRefused {
    assertThrows(ReservationRefused.class, () -> cache.reserve(Caches.HOT, 1000));
    cache.reserve(Caches.HOT, 2 * Caches.MIB);
    cache.reserve(Caches.HOT, 0);
    assertTrue(cache.reservations().isEmpty());
  }

  @Test
  void aSmallerCacheShrinksReservationsInProportion() throws ReservationRefused {
    cache.reserve(Caches.HOT, 16 * Caches.MIB);
    cache.reserve(Caches.COLD, 8 * Caches.MIB);
    cache.setMaxSize(15 * Caches.MIB);
    assertEquals(8 * Caches.MIB, cache.reservations().get(Caches.HOT));
    assertEquals(4 * Caches.MIB, cache.reservations().get(Caches.COLD));
    cache.setMaxSize(Caches.TOTAL_BYTES);
    assertEquals(16 * Caches.MIB, cache.reservations().get(Caches.HOT));
  }

  @Test
  void evictingAFileFindsItsBlocksInEveryPart() throws ReservationRefused {
    readWorkingSet(1);
    cache.reserve(Caches.HOT, 2 * Caches.MIB);
    assertEquals(WORKING_SET_BLOCKS, Caches.report(cache, Caches.HOT).blocks());
    BlockCache view = Caches.view(cache, Caches.HOT);
    assertEquals(WORKING_SET_BLOCKS, view.evictBlocksByHfileName("file-of-hot"));
    assertEquals(0, cachedOfWorkingSet());
    assertEquals(0, Caches.report(cache, Caches.HOT).bytes());
  }

  @Test
  void hitsAndMissesAreCountedForTheFamilyAndTheWhole() {
    readWorkingSet(2);
    FamilyReport hot = Caches.report(cache, Caches.HOT);
    assertEquals(WORKING_SET_BLOCKS, hot.misses());
    assertEquals(WORKING_SET_BLOCKS, hot.hits());
    assertEquals(WORKING_SET_BLOCKS, cache.getStats().getHitCount());
    assertEquals(WORKING_SET_BLOCKS, cache.getStats().getMissCount());
  }

  @Test
  void statisticsOutliveTheirPart() throws ReservationRefused {
    cache.reserve(Caches.HOT, 2 * Caches.MIB);
    readWorkingSet(1);
    Caches.finishEviction(cache);
    long evicted = cache.getStats().getEvictedCount();
    long runs = cache.getStats().getEvictionCount();
    assertTrue(evicted > 0 && runs > 0);
    cache.release(Caches.HOT);
    assertTrue(cache.getStats().getEvictedCount() >= evicted);
    assertTrue(cache.getStats().getEvictionCount() >= runs);
  }

  @Test
  void movedBlocksKeepTheirReferences() throws ReservationRefused {
    CountedBlock block = new CountedBlock(Caches.BLOCK_BYTES);
    BlockCache view = Caches.view(cache, Caches.HOT);
    view.cacheBlock(Caches.key(Caches.HOT, 0), block);
    Cacheable read = view.getBlock(Caches.key(Caches.HOT, 0), true, false, true);
    cache.reserve(Caches.HOT, 2 * Caches.MIB);
    assertEquals(3, block.refCnt());
    cache.release(Caches.HOT);
    assertEquals(3, block.refCnt());
    assertTrue(view.evictBlock(Caches.key(Caches.HOT, 0)));
    assertFalse(read.release());
    assertEquals(1, block.refCnt());
  }
}
