package dev.sluice.hbase;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.coprocessor.ObserverContext;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessor;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessorEnvironment;
import org.apache.hadoop.hbase.coprocessor.RegionObserver;
import org.apache.hadoop.hbase.regionserver.InternalScanner;
import org.apache.hadoop.hbase.regionserver.ScanType;
import org.apache.hadoop.hbase.regionserver.ScannerContext;
import org.apache.hadoop.hbase.regionserver.Store;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionLifeCycleTracker;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionRequest;

/** Has a compaction wait when it has most of its rows, so that a test can look at it. */
public final class StopsNearTheEnd implements RegionCoprocessor, RegionObserver {
  /** How many rows its table has. */
  static final int OF_ROWS = 100;

  static final CountDownLatch GOES_ON = new CountDownLatch(1);

  private static final int STOPS_AFTER_ROWS = OF_ROWS * 8 / 10;

  @Override
  public Optional<RegionObserver> getRegionObserver() {
    return Optional.of(this);
  }

  @Override
  public InternalScanner preCompact(
      ObserverContext<RegionCoprocessorEnvironment> context,
      Store store,
      InternalScanner scanner,
      ScanType scanType,
      CompactionLifeCycleTracker tracker,
      CompactionRequest request) {
    return new InternalScanner() {
      private int rows;

      @Override
      public boolean next(List<Cell> row, ScannerContext limits) throws IOException {
        if (rows++ == STOPS_AFTER_ROWS) {
          awaitTest();
        }
        return scanner.next(row, limits);
      }

      @Override
      public void close() throws IOException {
        scanner.close();
      }
    };
  }

  private static void awaitTest() throws InterruptedIOException {
    try {
      GOES_ON.await();
    } catch (InterruptedException e) {
      throw new InterruptedIOException("the compaction was ended");
    }
  }
}
