package org.apache.hadoop.hbase.io.hfile;

/** Upstream evicts in a thread of its own, which may sleep for ten seconds; tests do not wait for it. */
public final class LruEviction {
  private LruEviction() {}

  /** Evicts what is due, and returns when nothing is. */
  public static void finish(LruBlockCache cache) {
    while (cache.isEvictionInProgress() || cache.getCurrentSize() > cache.acceptableSize()) {
      cache.evict();
    }
  }
}
