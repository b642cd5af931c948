package org.apache.hadoop.hbase.regionserver;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.CellComparator;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.regionserver.compactions.DefaultCompactor;
import org.apache.hadoop.hbase.regionserver.compactions.ExploringCompactionPolicy;

/**
 * A store of a region that is open elsewhere, for a compaction of files of it. As upstream's {@code
 * CompactionTool} has one, without a server; but it looks at no other files, changes nothing in the
 * region's folder, and writes where it is told to.
 */
public final class DetachedStore extends HStore {
  private final long smallestReadPoint;
  private final List<HStoreFile> compactedFiles = new ArrayList<>();

  private DetachedStore(
      HRegion region, ColumnFamilyDescriptor family, Configuration conf, long smallestReadPoint)
      throws IOException {
    super(region, family, conf, true);
    this.smallestReadPoint = smallestReadPoint;
  }

  /**
   * Opens none of its files yet.
   *
   * @param output folder in which the store's outputs get one of the family's name
   * @param smallestReadPoint the smallest one that a reader of the region has
   */
  public static DetachedStore open(
      Configuration conf,
      FileSystem fileSystem,
      Path tableFolder,
      RegionInfo region,
      TableDescriptor table,
      ColumnFamilyDescriptor family,
      Path output,
      long smallestReadPoint)
      throws IOException {
    HRegionFileSystem files = new Folders(conf, fileSystem, tableFolder, region, output);
    return new DetachedStore(
        new HRegion(files, null, conf, table, null), family, conf, smallestReadPoint);
  }

  /** Opens a file of the store. */
  public HStoreFile open(String name) throws IOException {
    return getStoreEngine().createStoreFileAndReader(path(name));
  }

  /** Notes a file that was merged before and is still there, or was when the job was made. */
  public void noteCompacted(String name) {
    StoreFileInfo info =
        new StoreFileInfo(conf, getFileSystem(), 0, path(name), 0, null, null, true);
    compactedFiles.add(
        new HStoreFile(
            info,
            getColumnFamilyDescriptor().getBloomFilterType(),
            getStoreContext().getCacheConf()));
  }

  private Path path(String name) {
    return new Path(getRegionFileSystem().getStoreDir(getColumnFamilyName()), name);
  }

  @Override
  public Collection<HStoreFile> getCompactedFiles() {
    return compactedFiles;
  }

  @Override
  public long getSmallestReadPoint() {
    return smallestReadPoint;
  }

  /** Called by the constructor of the superclass. */
  @Override
  protected StoreEngine<?, ?, ?, ?> createStoreEngine(
      HStore store, Configuration conf, CellComparator comparator) throws IOException {
    DefaultStoreEngine engine = new Engine();
    engine.createComponentsOnce(conf, store, comparator);
    return engine;
  }

  /** Upstream's, with parts of its own whatever is configured, and without loading files. */
  private static final class Engine extends DefaultStoreEngine {
    @Override
    public void initialize(boolean warmup) {}

    @Override
    protected void createCompactor(Configuration conf, HStore store) {
      compactor = new DefaultCompactor(conf, store);
    }

    @Override
    protected void createCompactionPolicy(Configuration conf, HStore store) {
      compactionPolicy = new ExploringCompactionPolicy(conf, store);
    }

    @Override
    protected void createStoreFlusher(Configuration conf, HStore store) {
      storeFlusher = new DefaultStoreFlusher(conf, store);
    }
  }

  /** The folders of a region, of which nothing is changed but what is below the output. */
  private static final class Folders extends HRegionFileSystem {
    private final Path output;

    Folders(Configuration conf, FileSystem fileSystem, Path table, RegionInfo region, Path output) {
      super(conf, fileSystem, table, region);
      this.output = output;
    }

    @Override
    public Path getTempDir() {
      return output;
    }

    @Override
    Path createStoreDir(String family) {
      return getStoreDir(family);
    }

    @Override
    public void setStoragePolicy(String family, String policy) {}
  }
}
