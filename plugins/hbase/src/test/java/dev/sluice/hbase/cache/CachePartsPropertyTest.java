package dev.sluice.hbase.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;

/** Whatever is done to the cache in whatever order, its parts and its figures agree. */
class CachePartsPropertyTest {
  private static final List<CacheScope> FAMILIES =
      List.of(Caches.HOT, Caches.COLD, new CacheScope(Caches.TABLE, "third"));

  /** Something that is done to the cache. */
  private interface Step {
    void on(FamilyBlockCache cache);
  }

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<CacheScope> family = Arbitraries.of(FAMILIES);
    Arbitrary<CacheScope> scope =
        Arbitraries.oneOf(family, Arbitraries.just(CacheScope.ofTable(Caches.TABLE)));
    Arbitrary<Step> reads =
        Combinators.combine(family, Arbitraries.integers().between(0, 3000), blockCounts())
            .as((f, first, count) -> cache -> readRange(cache, f, first, count));
    Arbitrary<Step> reserves =
        Combinators.combine(scope, Arbitraries.longs().between(0, 30 * Caches.MIB))
            .as((s, bytes) -> cache -> reserve(cache, s, bytes));
    Arbitrary<Step> releases = scope.map(s -> (Step) cache -> cache.release(s));
    Arbitrary<Step> resizes =
        Arbitraries.longs().between(8, 40).map(mib -> cache -> cache.setMaxSize(mib * Caches.MIB));
    Arbitrary<Step> evicts =
        family.map(f -> cache -> cache.evictBlocksByHfileName(Caches.key(f, 0).getHfileName()));
    return Arbitraries.frequencyOf(
            Tuple.of(6, reads),
            Tuple.of(3, reserves),
            Tuple.of(2, releases),
            Tuple.of(1, resizes),
            Tuple.of(1, evicts))
        .list()
        .ofMinSize(1)
        .ofMaxSize(25);
  }

  private static Arbitrary<Integer> blockCounts() {
    return Arbitraries.integers().between(1, 1500);
  }

  private static void readRange(FamilyBlockCache cache, CacheScope family, int first, int count) {
    for (int block = first; block < first + count; block++) {
      Caches.read(cache, family, block);
    }
  }

  private static void reserve(FamilyBlockCache cache, CacheScope scope, long bytes) {
    try {
      cache.reserve(scope, bytes);
    } catch (ReservationRefused refused) {
      assertTrue(!refused.hint().isEmpty());
    }
  }

  @Property(tries = 60)
  void partsAndFiguresAgree(@ForAll("steps") List<Step> steps) {
    FamilyBlockCache cache = Caches.cache();
    try {
      FAMILIES.forEach(family -> Caches.view(cache, family));
      for (Step step : steps) {
        step.on(cache);
        check(cache);
      }
    } finally {
      cache.shutdown();
    }
  }

  private static void check(FamilyBlockCache cache) {
    Caches.finishEviction(cache);
    long reserved = cache.reservations().values().stream().mapToLong(Long::longValue).sum();
    assertTrue(reserved <= (long) (CacheParts.DEFAULT_RESERVED_SHARE * cache.getMaxSize()));
    assertEquals(cache.getMaxSize(), sum(Caches.partSizes(cache)));
    assertTrue(cache.getCurrentSize() <= cache.getMaxSize());
    Caches.checkFigures(cache);
  }

  private static long sum(List<Long> bytes) {
    return bytes.stream().mapToLong(Long::longValue).sum();
  }
}
