package org.apache.hadoop.hbase.io.hfile;

/**
 * Upstream evicts in a thread of its own, which may sleep for ten seconds; tests do not wait for
 * it.
 */
public final class LruEviction {
  private LruEviction() {}

  /** Ends that thread: from now on whoever adds a block evicts what is due, before it goes on. */
  public static void makeSynchronous(LruBlockCache cache) {
    LruBlockCache.EvictionThread thread = cache.getEvictionThread();
    thread.shutdown();
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException("the test was ended", e);
    }
  }

  /** Evicts what is due, and returns when nothing is. */
  public static void finish(LruBlockCache cache) {
    while (cache.isEvictionInProgress() || cache.getCurrentSize() > cache.acceptableSize()) {
      cache.evict();
    }
  }
}
