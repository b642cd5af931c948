package dev.sluice.hbase.compaction;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.InternalScanner;
import org.apache.hadoop.hbase.regionserver.PositionedScanners;
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
  /** Whether blocks are asked for one by one. If not, they come in a stream, as in upstream. */
  public static final String POSITIONED_READS_KEY = "sluice.compaction.positioned.reads";

  /** Called by the store for each family. */
  public CountingCompactor(Configuration conf, HStore store) {
    super(conf, store);
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
      List<StoreFileScanner> streams, ReadMeter meter, long readPoint) {
    if (!conf.getBoolean(POSITIONED_READS_KEY, true)) {
      return streams;
    }
    List<StoreFileScanner> positioned = PositionedScanners.open(meter.files(), readPoint);
    streams.forEach(StoreFileScanner::close);
    return positioned;
  }
}
