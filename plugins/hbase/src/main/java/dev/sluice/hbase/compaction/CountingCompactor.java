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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The store's own compactor, whose reads are counted, and go no further than its rate lets them.
 */
public class CountingCompactor extends DefaultCompactor {
  /** How much of a file is asked for at once. With 0 it comes in a stream, as in upstream. */
  public static final String READ_BYTES_KEY = "sluice.compaction.read.bytes";

  static final int READ_BYTES = 128 << 10;

  /** A compaction may have hundreds of files, and has a buffer of that size for each. */
  static final int MOST_READ_BYTES = 16 << 20;

  private static final Logger LOG = LoggerFactory.getLogger(CountingCompactor.class);

  private final int readBytes;

  /** Called by the store for each family. */
  public CountingCompactor(Configuration conf, HStore store) {
    super(conf, store);
    readBytes = readBytes(conf);
  }

  /** Never throws: a region whose table has a wrong value has to open nevertheless. */
  static int readBytes(Configuration conf) {
    String value = conf.getTrimmed(READ_BYTES_KEY, String.valueOf(READ_BYTES));
    try {
      int bytes = Integer.parseInt(value);
      if (bytes >= 0 && bytes <= MOST_READ_BYTES) {
        return bytes;
      }
    } catch (NumberFormatException e) {
      // It is told below, like one out of range.
    }
    LOG.warn(
        "{} is \"{}\", and {} is used: set it to a number of bytes from 0 to {}",
        READ_BYTES_KEY,
        value,
        READ_BYTES,
        MOST_READ_BYTES);
    return READ_BYTES;
  }

  @Override
  public List<Path> compact(CompactionRequestImpl request, ThroughputController control, User user)
      throws IOException {
    ReadMeter meter = ReadMeter.open(request, store.getHRegion());
    Optional<CompactionPart> part = LeasedCompactionController.partOf(control);
    try {
      part.ifPresent(each -> each.begins(meter, store));
      return merge(request, control, user);
    } finally {
      part.ifPresent(each -> each.ended(meter));
      ReadMeter.close();
    }
  }

  /**
   * Does the work. It may be tried in several ways, one after the other: they are one compaction,
   * with one name and one place among those that may run.
   */
  protected List<Path> merge(CompactionRequestImpl request, ThroughputController control, User user)
      throws IOException {
    return super.compact(request, control, user);
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
    if (readBytes == 0) {
      return streams;
    }
    streams.forEach(StoreFileScanner::close);
    boolean dropBehind = meter.dropsAsMajor() ? dropCacheMajor : dropCacheMinor;
    return meter.closeAtEnd(ChunkedScanners.open(meter.files(), dropBehind, readPoint, readBytes));
  }
}
