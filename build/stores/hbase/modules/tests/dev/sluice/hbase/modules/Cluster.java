package dev.sluice.hbase.modules;

import java.io.IOException;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.master.region.MasterRegionFactory;
import org.apache.hadoop.hbase.regionserver.CompactSplit;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.Store;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionConfiguration;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionLifeCycleTracker;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.rules.ExternalResource;

/** A cluster of one region server, on which no compaction starts by itself. */
final class Cluster extends ExternalResource {
  static final byte[] FAMILY = Bytes.toBytes("a");
  static final int FILES = 3;
  private static final byte[] QUALIFIER = Bytes.toBytes("q");
  private static final long DEADLINE_MILLISECONDS = 300_000;

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private final Consumer<Configuration> settings;

  Cluster(Consumer<Configuration> settings) {
    this.settings = settings;
  }

  @Override
  protected void before() throws Throwable {
    Configuration configuration = util.getConfiguration();
    configuration.setInt(CompactionConfiguration.HBASE_HSTORE_COMPACTION_MIN_KEY, 10);
    configuration.setLong(HConstants.MAJOR_COMPACTION_PERIOD, 0);
    // How long a disk takes is not what the tests are about.
    configuration.setBoolean(MasterRegionFactory.USE_HSYNC_KEY, false);
    settings.accept(configuration);
    util.startMiniCluster(1);
  }

  @Override
  protected void after() {
    try {
      util.shutdownMiniCluster();
    } catch (IOException e) {
      throw new IllegalStateException("the cluster did not stop", e);
    }
  }

  Configuration configuration() {
    return util.getConfiguration();
  }

  Admin admin() throws IOException {
    return util.getAdmin();
  }

  CompactSplit compactSplit() {
    return util.getMiniHBaseCluster().getRegionServer(0).getCompactSplitThread();
  }

  /** Makes the table NAME with one region, whose families have a few rows in each of some files. */
  HRegion regionWithFiles(String name, byte[]... families) throws IOException {
    TableName table = TableName.valueOf(name);
    try (Table opened = util.createTable(table, families)) {
      for (int file = 0; file < FILES; file++) {
        for (int row = 0; row < 10; row++) {
          Put put = new Put(Bytes.toBytes(String.format("row-%d-%d", row, file)));
          for (byte[] family : families) {
            put.addColumn(family, QUALIFIER, Bytes.toBytes(file));
          }
          opened.put(put);
        }
        util.flush(table);
      }
    }
    return region(name);
  }

  HRegion region(String name) {
    return util.getMiniHBaseCluster().getRegions(TableName.valueOf(name)).get(0);
  }

  int rows(String name) throws IOException {
    return util.countRows(TableName.valueOf(name));
  }

  /** Requests a major compaction of one store, as a user does. */
  void requestMajor(HRegion region, byte[] family, CompactionLifeCycleTracker tracker)
      throws IOException {
    HStore store = region.getStore(family);
    store.triggerMajorCompaction();
    compactSplit().requestCompaction(region, store, "test", Store.PRIORITY_USER, tracker, null);
  }

  <E extends Exception> void waitUntil(Waiter.Predicate<E> condition) throws E {
    util.waitFor(DEADLINE_MILLISECONDS, condition);
  }
}
