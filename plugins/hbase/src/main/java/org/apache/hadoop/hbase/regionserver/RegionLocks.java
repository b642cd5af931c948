package org.apache.hadoop.hbase.regionserver;

/** What the lock of a region shows, which belongs to its own package alone. */
public final class RegionLocks {
  private RegionLocks() {}

  /**
   * Whether a flush, which is done on this thread, keeps requests from its region. It does so under
   * the write lock, as for a bulk load of several families, and while somebody waits for that lock:
   * it is a fair one, so that every new reader waits behind.
   */
  public static boolean keepsRequestsOut(HRegion region) {
    return region.lock.isWriteLockedByCurrentThread() || region.lock.hasQueuedThreads();
  }
}
