package org.apache.hadoop.hbase.regionserver;

import dev.sluice.hbase.compaction.ChunkedStreams;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.ReaderContext;
import org.apache.hadoop.hbase.io.hfile.ReaderContext.ReaderType;
import org.apache.hadoop.hbase.io.hfile.ReaderContextBuilder;

/**
 * Scanners of a compaction that ask the file system for one chunk after the other. Upstream's, of
 * {@code StoreFileScanner.getScannersForCompaction}, read a stream: a DataNode fills it as far as
 * sockets hold, some MB for each file, however slowly it is read.
 */
public final class ChunkedScanners {
  /** A DataNode would read 4 MiB ahead of a request for more than 256 KiB. */
  private static final long READ_AHEAD_BYTES = 0;

  private ChunkedScanners() {}

  /**
   * One for each file, in upstream's order.
   *
   * @param dropBehind whether what was read may leave the page cache
   * @param readPoint the smallest one that a reader still has
   * @param chunkBytes how much of a file is asked for at once, more than 0
   */
  public static List<StoreFileScanner> open(
      Collection<HStoreFile> files, boolean dropBehind, long readPoint, int chunkBytes)
      throws IOException {
    List<HStoreFile> sorted = new ArrayList<>(files);
    sorted.sort(StoreFileComparators.SEQ_ID);
    List<StoreFileScanner> scanners = new ArrayList<>(sorted.size());
    boolean opened = false;
    try {
      for (HStoreFile file : sorted) {
        scanners.add(
            reader(file, dropBehind, chunkBytes)
                .getStoreFileScanner(false, false, true, readPoint, scanners.size(), false));
      }
      opened = true;
    } finally {
      if (!opened) {
        scanners.forEach(StoreFileScanner::close);
      }
    }
    return scanners;
  }

  /** As of {@code HStoreFile.createStreamReader}, with streams of its own. */
  private static StoreFileReader reader(HStoreFile file, boolean dropBehind, int chunkBytes)
      throws IOException {
    CacheConfig cache = file.getCacheConf();
    StoreFileInfo info = file.getFileInfo();
    ReaderContext upstream =
        info.createReaderContext(
            dropBehind && cache.shouldDropBehindCompaction(), READ_AHEAD_BYTES, ReaderType.STREAM);
    ReaderContext context =
        ReaderContextBuilder.newBuilder(upstream)
            .withPrimaryReplicaReader(upstream.isPrimaryReplicaReader())
            .withInputStreamWrapper(
                new ChunkedStreams(upstream.getInputStreamWrapper(), chunkBytes))
            .build();
    StoreFileReader reader = info.preStoreFileReaderOpen(context, cache);
    if (reader == null) {
      reader = info.createReader(context, cache);
      reader.copyFields(file.getReader());
    }
    return info.postStoreFileReaderOpen(context, cache, reader);
  }
}
