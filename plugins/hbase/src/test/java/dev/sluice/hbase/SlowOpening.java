package dev.sluice.hbase;

import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.coprocessor.ObserverContext;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessor;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessorEnvironment;
import org.apache.hadoop.hbase.coprocessor.RegionObserver;
import org.apache.hadoop.hbase.io.FSDataInputStreamWrapper;
import org.apache.hadoop.hbase.io.Reference;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.regionserver.StoreFileReader;

/** Has the compactions of a table wait where they open their files, as on a slow disk. */
public final class SlowOpening implements RegionCoprocessor, RegionObserver {
  static final CountDownLatch REACHED = new CountDownLatch(1);
  static final CountDownLatch OPENED = new CountDownLatch(1);

  @Override
  public Optional<RegionObserver> getRegionObserver() {
    return Optional.of(this);
  }

  @Override
  @SuppressWarnings("deprecation")
  public StoreFileReader preStoreFileReaderOpen(
      ObserverContext<RegionCoprocessorEnvironment> context,
      FileSystem fileSystem,
      Path path,
      FSDataInputStreamWrapper in,
      long size,
      CacheConfig cache,
      Reference reference,
      StoreFileReader reader) {
    if (Thread.currentThread().getName().contains("Compactions")) {
      REACHED.countDown();
      try {
        OPENED.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
    return reader;
  }
}
