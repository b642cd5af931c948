package dev.sluice.cassandra.cache;

import dev.sluice.local.lease.Scope;
import java.util.function.Supplier;
import org.apache.cassandra.cache.AutoSavingCache;
import org.apache.cassandra.metrics.CacheMetrics;
import org.apache.cassandra.service.CacheService;
import org.apache.cassandra.service.CacheServiceMBean;

/** The caches whose capacity can be set while the node runs, in whole MiB. */
enum NodeCache {
  KEY("key-cache", () -> CacheService.instance.keyCache),
  ROW("row-cache", () -> CacheService.instance.rowCache),
  COUNTER("counter-cache", () -> CacheService.instance.counterCache);

  private static final long MEBIBYTE = 1L << 20;

  private final Scope scope;
  private final Supplier<AutoSavingCache<?, ?>> cache;

  NodeCache(String scope, Supplier<AutoSavingCache<?, ?>> cache) {
    this.scope = Scope.ofTable(scope);
    this.cache = cache;
  }

  Scope scope() {
    return scope;
  }

  CacheMetrics metrics() {
    return cache.get().getMetrics();
  }

  long capacityMebibytes() {
    return mebibytes(cache.get().getCapacity());
  }

  void setCapacity(long mebibytes) {
    CacheServiceMBean caches = CacheService.instance;
    switch (this) {
      case KEY -> caches.setKeyCacheCapacityInMB(mebibytes);
      case ROW -> caches.setRowCacheCapacityInMB(mebibytes);
      case COUNTER -> caches.setCounterCacheCapacityInMB(mebibytes);
    }
  }

  static long bytes(long mebibytes) {
    return mebibytes * MEBIBYTE;
  }

  /** The bytes of as many as fit into that many. */
  static long wholeMebibytes(double bytes) {
    return (long) bytes / MEBIBYTE * MEBIBYTE;
  }

  /** As many as hold that many bytes. */
  static long mebibytes(double bytes) {
    return (long) Math.ceil(bytes / MEBIBYTE);
  }
}
