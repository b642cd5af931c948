package dev.sluice.hbase.compaction;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.regionserver.ChunkedScanners;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.InternalScanner;
import org.apache.hadoop.hbase.regionserver.ScanInfo;
import org.apache.hadoop.hbase.regionserver.ScanType;
import org.apache.hadoop.hbase.regionserver.StoreFileScanner;
import org.apache.hadoop.hbase.regionserver.StoreScanner;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionRequestImpl;
import org.apache.hadoop.hbase.regionserver.compactions.DefaultCompactor;
import org.apache.hadoop.hbase.regionserver.throttle.ThroughputController;
import org.apache.hadoop.hbase.security.User;

/**
 * The store's own compactor, whose reads are counted, and go no further than its rate lets them.
 */
public class CountingCompactor extends DefaultCompactor {
  /** How much of a file is asked for at once. With 0 it comes in a stream, as in upstream. */
  public static final String READ_BYTES_KEY = "sluice.compaction.read.bytes";

  private static final int READ_BYTES = 128 << 10;

  private final int readBytes;

  /** Called by the store for each family. */
  public CountingCompactor(Configuration conf, HStore store) {
    super(conf, store);
    readBytes = conf.getInt(READ_BYTES_KEY, READ_BYTES);
  }

  @Override
  public List<Path> compact(CompactionRequestImpl request, ThroughputController control, User user)
      throws IOException {
    ReadMeter.open(request);
    try {
      return super.compact(request, control, user);
    } finally {
      ReadMeter.close();
    }
  }

  @Override
  protected InternalScanner createScanner(
      HStore store,
      ScanInfo scanInfo,
      List<StoreFileScanner> scanners,
      ScanType scanType,
      long smallestReadPoint,
      long earliestPutTs)
      throws IOException {
    Optional<ReadMeter> meter = ReadMeter.current();
    if (meter.isEmpty()) {
      return super.createScanner(
          store, scanInfo, scanners, scanType, smallestReadPoint, earliestPutTs);
    }
    List<CountingScanner> counting =
        bounded(scanners, meter.get(), smallestReadPoint).stream()
            .map(scanner -> new CountingScanner(scanner, meter.get()))
            .toList();
    return new StoreScanner(store, scanInfo, counting, scanType, smallestReadPoint, earliestPutTs);
  }

  private List<StoreFileScanner> bounded(
      List<StoreFileScanner> streams, ReadMeter meter, long readPoint) throws IOException {
    if (readBytes <= 0) {
      return streams;
    }
    streams.forEach(StoreFileScanner::close);
    boolean dropBehind = meter.isMajor() ? dropCacheMajor : dropCacheMinor;
    return ChunkedScanners.open(meter.files(), dropBehind, readPoint, readBytes);
  }
}
