package dev.sluice.hbase.compaction;

import dev.sluice.hbase.pace.Operation;
import dev.sluice.hbase.pace.Throttle;
import java.io.InterruptedIOException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.StoreFileReader;
import org.apache.hadoop.hbase.regionserver.StoreFileScanner;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionRequestImpl;

/**
 * Counts what a compaction reads from its files, and has it wait there too: the store's own control
 * sees only what is written, and a compaction that drops what it reads may write nothing for long.
 * One thread works on a compaction, from before its operation has a name until after its end.
 */
final class ReadMeter {
  private static final ThreadLocal<ReadMeter> CURRENT = new ThreadLocal<>();

  private final HRegion region;
  private final boolean major;
  private final boolean allFiles;
  private final Collection<HStoreFile> files;
  private final long totalBytes;

  private String id = "";
  private Operation operation;
  private Throttle throttle;
  private long readBefore;
  private List<StoreFileScanner> opened = List.of();

  private ReadMeter(CompactionRequestImpl request, HRegion region) {
    this.region = region;
    this.major = request.isMajor();
    this.allFiles = request.isAllFiles();
    this.files = request.getFiles();
    this.totalBytes = files.stream().mapToLong(ReadMeter::uncompressedBytes).sum();
  }

  private static long uncompressedBytes(HStoreFile file) {
    StoreFileReader reader = file.getReader();
    if (reader == null) {
      return 0;
    }
    long bytes = reader.getTotalUncompressedBytes();
    // A reference stands for one half of its file.
    return file.isReference() ? bytes / 2 : bytes;
  }

  /** Begins to count for the compaction that this thread is about to do. */
  static ReadMeter open(CompactionRequestImpl request, HRegion region) {
    ReadMeter meter = new ReadMeter(request, region);
    CURRENT.set(meter);
    return meter;
  }

  /** Ends that, and closes what was opened: upstream closes nothing if a scanner of it fails. */
  static void close() {
    ReadMeter meter = CURRENT.get();
    CURRENT.remove();
    if (meter != null) {
      meter.opened.forEach(StoreFileScanner::close);
    }
  }

  /** Notes scanners that upstream does not know; to close one twice does nothing. */
  List<StoreFileScanner> closeAtEnd(List<StoreFileScanner> scanners) {
    opened = scanners;
    return scanners;
  }

  /** That of the compaction that this thread does, if it is counted. */
  static Optional<ReadMeter> current() {
    return Optional.ofNullable(CURRENT.get());
  }

  /** Gives the compaction the name that snapshots show. */
  void name(String given) {
    id = given;
  }

  String id() {
    return id;
  }

  /** Charges reads to an operation from now on, with those that were before its start. */
  void chargeTo(Operation started, Throttle with) {
    started.read(readBefore);
    operation = started;
    throttle = with;
  }

  /** The operation has ended; what is read before another one starts is charged to that one. */
  void chargeToNext() {
    operation = null;
    readBefore = 0;
  }

  /** Notes a block that was read. */
  void read(int bytes) throws InterruptedIOException {
    if (operation == null) {
      readBefore += bytes;
      return;
    }
    operation.read(bytes);
    try {
      throttle.pause(operation);
    } catch (InterruptedException e) {
      throw (InterruptedIOException)
          new InterruptedIOException("the compaction was ended: " + e.getMessage()).initCause(e);
    }
  }

  boolean isMajor() {
    return major;
  }

  /** Whether upstream has a major compaction's setting say if what was read leaves memory. */
  boolean dropsAsMajor() {
    return major || allFiles;
  }

  /** That of the files, which need not be open on this server yet. */
  HRegion region() {
    return region;
  }

  /** Those that are merged. */
  Collection<HStoreFile> files() {
    return files;
  }

  /** Size of the files, 0 if it is not known. */
  long totalBytes() {
    return totalBytes;
  }
}
