package org.apache.hadoop.hbase.regionserver;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * Scanners of a compaction that ask the file system for one block after the other. Upstream's, of
 * {@code StoreFileScanner.getScannersForCompaction}, read a stream: a DataNode fills it as far as
 * sockets hold, some MB for each file, however slowly it is read.
 */
public final class PositionedScanners {
  private PositionedScanners() {}

  /**
   * One for each file, in upstream's order.
   *
   * @param readPoint the smallest one that a reader still has
   */
  public static List<StoreFileScanner> open(Collection<HStoreFile> files, long readPoint) {
    List<HStoreFile> sorted = new ArrayList<>(files);
    sorted.sort(StoreFileComparators.SEQ_ID);
    List<StoreFileScanner> scanners = new ArrayList<>(sorted.size());
    for (HStoreFile file : sorted) {
      scanners.add(
          file.getReader()
              .getStoreFileScanner(false, true, true, readPoint, scanners.size(), false));
    }
    return scanners;
  }
}
