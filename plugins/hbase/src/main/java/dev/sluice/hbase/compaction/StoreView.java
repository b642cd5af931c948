package dev.sluice.hbase.compaction;

import dev.sluice.local.lease.Scope;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.Region;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.regionserver.StoreFileReader;

/**
 * A family of a region that is open on this server, as far as compactions go; from memory alone.
 */
record StoreView(HRegion region, HStore store) {

  /** Those of all regions, system tables with them. */
  static List<StoreView> all(RegionServerServices services) {
    List<StoreView> stores = new ArrayList<>();
    for (Region region : services.getRegions()) {
      HRegion open = (HRegion) region;
      open.getStores().forEach(store -> stores.add(new StoreView(open, store)));
    }
    return stores;
  }

  static Scope scopeOf(HStore store) {
    return new Scope(store.getTableName().getNameAsString(), store.getColumnFamilyName());
  }

  Scope scope() {
    return scopeOf(store);
  }

  /** The same for every task of this store, and for no other store of the server. */
  static String keyOf(HStore store) {
    return store.getRegionInfo().getEncodedName() + "#" + store.getColumnFamilyName();
  }

  boolean isSystem() {
    return region.getRegionInfo().getTable().isSystemTable();
  }

  boolean isCompactionEnabled() {
    return region.getTableDescriptor().isCompactionEnabled();
  }

  /**
   * Whether many files make writes wait: upstream has them wait for compactions alone, and a region
   * that closes or is read-only takes none. Of a replica of another server's region that is known
   * without the lock which it has for as long as it asks HDFS for its files.
   */
  boolean makesWritesWait() {
    return isCompactionEnabled() && !region.isReadOnly() && region.areWritesEnabled();
  }

  FileLimits limits() {
    return new FileLimits(
        store.getStorefilesCount(),
        store.getStoreEngine().getCompactionPolicy().getConf().getMinFilesToCompact(),
        store.getBlockingFileCount());
  }

  @Override
  public String toString() {
    return scope().text() + " of region " + region.getRegionInfo().getEncodedName();
  }

  /** What is left to merge: all but the largest file. */
  long debtBytes() {
    long total = 0;
    long largest = 0;
    for (HStoreFile file : store.getStorefiles()) {
      StoreFileReader reader = file.getReader();
      if (reader != null) {
        total += reader.length();
        largest = Math.max(largest, reader.length());
      }
    }
    return total - largest;
  }

  long debtFiles() {
    return Math.max(0, store.getStorefilesCount() - 1L);
  }
}
