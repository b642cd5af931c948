package dev.sluice.hbase.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlock;
import org.junit.jupiter.api.Test;

/** Families are read while reservations come, change and go, and files are evicted. */
class FamilyBlockCacheRaceTest {
  private static final int READS = 60_000;
  private static final int BLOCKS = 1500;
  private static final List<CacheScope> FAMILIES = List.of(Caches.HOT, Caches.COLD);

  private final FamilyBlockCache cache = Caches.cache();
  private final Queue<CountedBlock> made = new ConcurrentLinkedQueue<>();
  private final Map<CacheScope, Object[]> locks =
      Map.of(Caches.HOT, newLocks(), Caches.COLD, newLocks());
  private final AtomicBoolean isOver = new AtomicBoolean();

  private static Object[] newLocks() {
    return Stream.generate(Object::new).limit(BLOCKS).toArray();
  }

  private Void read(CacheScope family, int seed) {
    Random random = new Random(seed);
    BlockCache view = Caches.view(cache, family);
    for (int i = 0; i < READS; i++) {
      readBlock(view, family, random.nextInt(BLOCKS));
    }
    return null;
  }

  private void readBlock(BlockCache view, CacheScope family, int number) {
    Cacheable found = view.getBlock(Caches.key(family, number), true, false, true);
    if (found == null) {
      // As in HFileReaderImpl: upstream's cache cannot bear two insertions of a block at once.
      synchronized (locks.get(family)[number]) {
        found = view.getBlock(Caches.key(family, number), true, true, true);
        if (found == null) {
          CountedBlock block = new CountedBlock(Caches.BLOCK_BYTES);
          made.add(block);
          view.cacheBlock(Caches.key(family, number), block);
          found = block;
        }
      }
    }
    found.release();
  }

  private Void reserve() throws ReservationRefused {
    Random random = new Random(1);
    CacheScope table = CacheScope.ofTable(Caches.TABLE);
    while (!isOver.get()) {
      cache.reserve(Caches.HOT, (1 + random.nextInt(8)) * Caches.MIB);
      cache.reserve(table, (1 + random.nextInt(8)) * Caches.MIB);
      if (random.nextBoolean()) {
        cache.release(Caches.HOT);
      }
      cache.release(table);
    }
    return null;
  }

  private Void evict() {
    Random random = new Random(2);
    while (!isOver.get()) {
      CacheScope family = FAMILIES.get(random.nextInt(FAMILIES.size()));
      Caches.view(cache, family).evictBlock(Caches.key(family, random.nextInt(BLOCKS)));
      if (random.nextInt(1000) == 0) {
        cache.evictBlocksByHfileName(Caches.key(family, 0).getHfileName());
      }
    }
    return null;
  }

  @Test
  void noBlockIsLostOrFoundTwice() throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    try {
      List<Future<Void>> readers = new ArrayList<>();
      for (int seed = 0; seed < 2; seed++) {
        int readerSeed = seed;
        for (CacheScope family : FAMILIES) {
          readers.add(threads.submit((Callable<Void>) () -> read(family, readerSeed)));
        }
      }
      List<Future<Void>> others =
          List.of(threads.submit(this::reserve), threads.submit((Callable<Void>) this::evict));
      for (Future<Void> reader : readers) {
        reader.get();
      }
      isOver.set(true);
      for (Future<Void> other : others) {
        other.get();
      }
      Caches.finishEviction(cache);
      Caches.checkFigures(cache);
      checkReferences();
    } finally {
      isOver.set(true);
      threads.shutdownNow();
      cache.shutdown();
    }
  }

  /** Everything that is still held is in the cache, and is held once. */
  private void checkReferences() {
    Set<String> cached = new HashSet<>();
    for (CachedBlock block : cache) {
      cached.add(block.getFilename() + "@" + block.getOffset());
    }
    long held = made.stream().mapToLong(CountedBlock::refCnt).sum();
    assertEquals(cached.size(), held);
  }
}
