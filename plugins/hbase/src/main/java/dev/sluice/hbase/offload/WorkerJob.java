package dev.sluice.hbase.offload;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.exceptions.DeserializationException;
import org.apache.hadoop.hbase.fs.HFileSystem;
import org.apache.hadoop.hbase.regionserver.DetachedStore;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.StoreFileInfo;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionRequestImpl;
import org.apache.hadoop.hbase.regionserver.compactions.DefaultCompactor;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;

/** The job of a worker: upstream's own compactor, on a store without a server. */
final class WorkerJob {
  private static final String FAILED = "failed";
  private static final int ROOT_DEPTH = 4;

  private final String regionLocation;
  private final String outputLocation;
  private final OffloadRequest request;
  private double openSeconds;

  /** Reads the line that an agent has sent. */
  WorkerJob(Members line) throws StaysLocalException {
    Members job = line.object("job");
    HBaseVersion store = HBaseVersion.of(job.object("hbase_version"));
    if (!HBaseVersion.inUse().serves(store)) {
      throw new StaysLocalException(
          "version", "this is HBase " + HBaseVersion.inUse() + ", and the store is of " + store);
    }
    regionLocation = job.text("database_path");
    outputLocation = job.text("output_path");
    request = OffloadRequest.decode(job.bytes("input"));
  }

  double openSeconds() {
    return openSeconds;
  }

  OffloadOutcome run() throws IOException, StaysLocalException {
    followClock(request.nowMillis());
    DetachedStore store = store();
    long begun = System.nanoTime();
    List<HStoreFile> files = new ArrayList<>();
    for (String name : request.files()) {
      files.add(store.open(checked(name)));
    }
    openSeconds = (System.nanoTime() - begun) / 1e9;
    for (String name : request.compactedFiles()) {
      store.noteCompacted(checked(name));
    }
    CompactionRequestImpl compaction = new CompactionRequestImpl(files);
    compaction.setIsMajor(request.isMajor(), request.isAllFiles());
    compaction.setDescription(
        store.getRegionInfo().getRegionNameAsString(), store.getColumnFamilyName());
    CellCounter counter = new CellCounter();
    DefaultCompactor compactor = (DefaultCompactor) store.getStoreEngine().getCompactor();
    List<Path> outputs = compactor.compact(compaction, counter, null);
    return outcome(store, outputs, counter);
  }

  /** The region server's clock from now on, by which cells expire. */
  private static void followClock(long millis) {
    long begun = System.nanoTime();
    EnvironmentEdgeManager.injectEdge(
        () -> millis + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun));
  }

  private static String checked(String name) throws StaysLocalException {
    if (name.indexOf('/') < 0 && StoreFileInfo.isHFile(name)) {
      return name;
    }
    throw new StaysLocalException("path", "\"" + name + "\" is no name of a store's file");
  }

  private DetachedStore store() throws IOException, StaysLocalException {
    Path regionFolder = new Path(regionLocation);
    Configuration conf = configuration(regionFolder);
    FileSystem fileSystem = new HFileSystem(conf, true);
    try {
      RegionInfo region = RegionInfo.parseFrom(request.region());
      TableDescriptor table = TableDescriptorBuilder.parseFrom(request.table());
      ColumnFamilyDescriptor family = table.getColumnFamily(Bytes.toBytes(request.family()));
      if (family == null) {
        throw new StaysLocalException(FAILED, "the table has no family " + request.family());
      }
      Path tableFolder =
          CommonFSUtils.getTableDir(CommonFSUtils.getRootDir(conf), table.getTableName());
      Path found = new Path(tableFolder, region.getEncodedName());
      if (!found.equals(regionFolder) || !region.getTable().equals(table.getTableName())) {
        throw new StaysLocalException("path", regionFolder + " is not the folder of " + region);
      }
      return DetachedStore.open(
          conf,
          fileSystem,
          tableFolder,
          region,
          table,
          family,
          new Path(outputLocation),
          request.smallestReadPoint());
    } catch (DeserializationException e) {
      throw new StaysLocalException(FAILED, "region or table cannot be read: " + e);
    }
  }

  /** That of this node, with what the region server has said of its own. */
  private Configuration configuration(Path regionFolder) {
    Configuration conf = HBaseConfiguration.create();
    request.settings().entrySet().stream()
        .filter(setting -> ShippedSettings.isShipped(setting.getKey()))
        .forEach(setting -> conf.set(setting.getKey(), setting.getValue()));
    Path root = regionFolder;
    for (int above = 0; above < ROOT_DEPTH; above++) {
      root = root.getParent();
    }
    CommonFSUtils.setRootDir(conf, root);
    CommonFSUtils.setFsDefault(conf, root);
    // Each block is read once, and nothing is written to memory.
    conf.setFloat("hfile.block.cache.size", 0);
    conf.setBoolean("hbase.hregion.memstore.mslab.enabled", false);
    // Upstream writes them with its own compactor alone, which the region server does not have.
    conf.setBoolean("hbase.enable.historical.compaction.files", false);
    return conf;
  }

  private static OffloadOutcome outcome(
      DetachedStore store, List<Path> outputs, CellCounter counter) throws IOException {
    List<OffloadOutcome.OutputFile> files = new ArrayList<>();
    for (Path output : outputs) {
      HStoreFile file = store.getStoreEngine().createStoreFileAndReader(output);
      files.add(
          new OffloadOutcome.OutputFile(
              output.getName(), file.getReader().length(), file.getReader().getEntries()));
      file.closeStoreFile(false);
    }
    return new OffloadOutcome(files, counter.cells(), counter.bytes());
  }
}
