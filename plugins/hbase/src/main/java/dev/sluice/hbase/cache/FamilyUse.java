package dev.sluice.hbase.cache;

import java.util.concurrent.atomic.LongAdder;

/** What one family has had of the cache since the server started. */
final class FamilyUse {
  private final LongAdder hits = new LongAdder();
  private final LongAdder misses = new LongAdder();
  private final LongAdder evictions = new LongAdder();

  void hit() {
    hits.increment();
  }

  void miss() {
    misses.increment();
  }

  void evicted() {
    evictions.increment();
  }

  long hits() {
    return hits.sum();
  }

  long misses() {
    return misses.sum();
  }

  long evictions() {
    return evictions.sum();
  }
}
