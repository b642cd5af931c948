package dev.sluice.hbase;

import dev.sluice.hbase.cache.FamilyBlockCache;
import dev.sluice.hbase.compaction.CountingCompactor;
import dev.sluice.hbase.compaction.LeasedCompactionController;
import dev.sluice.hbase.flush.LeasedFlushController;
import dev.sluice.hbase.latency.TimingSchedulerFactory;
import dev.sluice.hbase.master.MasterSocketCoprocessor;
import dev.sluice.hbase.regionserver.RegionServerPlugin;
import dev.sluice.hbase.regionserver.SocketCoprocessor;
import dev.sluice.local.plugin.PluginSocket;
import dev.sluice.local.protocol.ProtocolClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.master.region.MasterRegionFactory;
import org.apache.hadoop.hbase.regionserver.CompactSplit;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** HDFS, ZooKeeper, a master and a region server with the plug-in, in this process. */
public final class PluginCluster implements AutoCloseable {
  /** Gives the tests of all classes the same cluster: it takes half a minute to start. */
  public static final class Shared implements ParameterResolver {
    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
      return parameter.getParameter().getType() == PluginCluster.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
      return context
          .getRoot()
          .getStore(ExtensionContext.Namespace.GLOBAL)
          .getOrComputeIfAbsent(PluginCluster.class);
    }
  }

  public static final String FAMILY = "f";
  public static final int BLOCKING_FILES = 6;
  public static final int VALUE_BYTES = 4096;

  /** Of them one is for large compactions, and takes small ones where there are no large ones. */
  public static final int COMPACTION_THREADS = 4;

  /** Instance of the first region server. */
  private static final String FIRST = "regionserver";

  private static final int CHORE_PERIOD_MILLIS = 3_600_000;

  /** For what must come, however long a busy machine with a slow disk takes for it. */
  public static final long DEADLINE_SECONDS = 300;

  private static final long POLL_MILLIS = 20;
  private static final byte[] QUALIFIER = Bytes.toBytes("q");

  // A cluster of the utility puts its own there, which goes with it; another may still need this
  // one.
  private final String temporaryDirectory = System.getProperty("java.io.tmpdir");
  private final HBaseTestingUtility utility = new HBaseTestingUtility();
  private final Path socketDirectory;
  private final Random random = new Random(1);

  /** Starts it with one region server; called by JUnit. */
  public PluginCluster() throws Exception {
    this(1);
  }

  /** Starts it; the first region server is the one that serves the socket. */
  public PluginCluster(int regionServers) throws Exception {
    this(regionServers, Map.of());
  }

  /** Starts it with settings of a test's own. */
  public PluginCluster(int regionServers, Map<String, String> settings) throws Exception {
    socketDirectory = Files.createTempDirectory("sluice");
    Configuration conf = utility.getConfiguration();
    conf.setBoolean("hbase.table.sanity.checks", false);
    conf.setLong("dfs.namenode.fs-limits.min-block-size", 0);
    conf.set(
        "hbase.regionserver.throughput.controller", LeasedCompactionController.class.getName());
    conf.set(
        "hbase.regionserver.flush.throughput.controller", LeasedFlushController.class.getName());
    conf.set("hbase.hstore.defaultengine.compactor.class", CountingCompactor.class.getName());
    conf.set("hbase.coprocessor.regionserver.classes", SocketCoprocessor.class.getName());
    conf.set(
        "hbase.region.server.rpc.scheduler.factory.class", TimingSchedulerFactory.class.getName());
    if (isPatched()) {
      conf.set("hfile.block.cache.policy", FamilyBlockCache.class.getName());
    }
    conf.set("hbase.coprocessor.master.classes", MasterSocketCoprocessor.class.getName());
    // Tests run the master's chores when they need them.
    conf.setInt("hbase.balancer.period", CHORE_PERIOD_MILLIS);
    conf.setInt("hbase.normalizer.period", CHORE_PERIOD_MILLIS);
    // Else the normalizer leaves regions alone that are young or empty.
    conf.setInt("hbase.normalizer.merge.min_region_age.days", 0);
    conf.setInt("hbase.normalizer.merge.min_region_size.mb", 0);
    conf.set(PluginSocket.DIRECTORY_KEY, socketDirectory.toString());
    conf.setInt("hbase.hstore.blockingStoreFiles", BLOCKING_FILES);
    conf.setLong("hbase.hregion.majorcompaction", 0);
    // Else the policy takes all files that are smaller than a flush.
    conf.setLong("hbase.hstore.compaction.min.size", 1);
    conf.setInt("hbase.regionserver.thread.compaction.small", COMPACTION_THREADS - 1);
    expectSlowDisk(conf);
    settings.forEach(conf::set);
    utility.startMiniCluster(regionServers);
  }

  /** How long a disk takes is not what the tests are about: no log is rolled for it. */
  private static void expectSlowDisk(Configuration conf) {
    conf.setInt("hbase.regionserver.wal.roll.on.sync.ms", Integer.MAX_VALUE);
    conf.setInt("hbase.regionserver.wal.slowsync.roll.threshold", Integer.MAX_VALUE);
    conf.setBoolean(MasterRegionFactory.USE_HSYNC_KEY, false);
    // Also how long a table that is made may take to open.
    conf.setLong(
        "hbase.client.sync.wait.timeout.msec", TimeUnit.SECONDS.toMillis(DEADLINE_SECONDS));
  }

  /** Whether the block cache can be asked by family, which takes a patched hbase-server. */
  public static boolean isPatched() {
    return Arrays.stream(BlockCache.class.getMethods())
        .anyMatch(method -> method.getName().equals("forFamily"));
  }

  @Override
  public void close() throws IOException {
    utility.shutdownMiniCluster();
    System.setProperty("java.io.tmpdir", temporaryDirectory);
  }

  public HBaseTestingUtility utility() {
    return utility;
  }

  public Admin admin() throws IOException {
    return utility.getAdmin();
  }

  public Path socketPath() {
    return socketPath(FIRST);
  }

  private Path socketPath(String instance) {
    return socketDirectory.resolve("hbase").resolve(instance + ".sock");
  }

  public Path masterSocketPath() {
    return socketDirectory.resolve("hbase").resolve("master.sock");
  }

  public ProtocolClient masterClient() throws IOException {
    return new ProtocolClient(masterSocketPath());
  }

  public ProtocolClient client() throws IOException {
    return new ProtocolClient(socketPath());
  }

  /** Starts one more region server, which serves the socket of an instance. */
  public HRegionServer startServer(String instance) throws Exception {
    Configuration conf = utility.getMiniHBaseCluster().getConfiguration();
    conf.set(RegionServerPlugin.INSTANCE_KEY, instance);
    try {
      HRegionServer started = utility.getMiniHBaseCluster().startRegionServer().getRegionServer();
      started.waitForServerOnline();
      return started;
    } finally {
      conf.set(RegionServerPlugin.INSTANCE_KEY, FIRST);
    }
  }

  public ProtocolClient client(String instance) throws IOException {
    return new ProtocolClient(socketPath(instance));
  }

  /** The master may prefer the old server as long as the new one has just come. */
  public void moveTo(HRegionServer server, TableName table) throws Exception {
    byte[] region = regions(table).get(0).getRegionInfo().getEncodedNameAsBytes();
    await(
        () -> {
          admin().move(region, server.getServerName());
          return !server.getRegions(table).isEmpty();
        });
  }

  /** The server that serves the socket. */
  public HRegionServer server() {
    return utility.getMiniHBaseCluster().getRegionServer(0);
  }

  /** What a test waits for. */
  @FunctionalInterface
  public interface Condition {
    boolean holds() throws Exception;
  }

  public void await(Condition condition) throws Exception {
    utility.waitFor(TimeUnit.SECONDS.toMillis(DEADLINE_SECONDS), POLL_MILLIS, condition::holds);
  }

  public TableName create(String name) throws IOException {
    TableName table = TableName.valueOf(name);
    utility.createTable(table, FAMILY).close();
    return table;
  }

  /** Creates a table whose one store has two files, of so many other rows each. */
  public TableName createWithTwoFiles(String name, int rowsPerFile) throws Exception {
    TableName table = create(name);
    addFile(table, 0, rowsPerFile);
    addFile(table, rowsPerFile, rowsPerFile);
    return table;
  }

  /**
   * Writes rows with values that cannot be compressed, and flushes them to a file. No compaction
   * follows.
   */
  public void addFile(TableName table, int firstRow, int count) throws IOException {
    write(table, firstRow, count);
    utility.flush(table);
  }

  /** The same by a client's request, after which the store compacts by itself if it is due. */
  public void addFileByRequest(TableName table, int firstRow, int count) throws IOException {
    write(table, firstRow, count);
    for (HRegion region : regions(table)) {
      admin().flushRegion(region.getRegionInfo().getRegionName());
    }
  }

  public void write(TableName table, int firstRow, int count) throws IOException {
    List<Put> puts = new ArrayList<>();
    for (int row = firstRow; row < firstRow + count; row++) {
      byte[] value = new byte[VALUE_BYTES];
      random.nextBytes(value);
      puts.add(new Put(key(row)).addColumn(Bytes.toBytes(FAMILY), QUALIFIER, value));
    }
    try (Table open = utility.getConnection().getTable(table)) {
      open.put(puts);
    }
  }

  /** Makes a file of the marks of deletion of rows. */
  public void addDeletions(TableName table, int firstRow, int count) throws IOException {
    List<Delete> deletes = new ArrayList<>();
    for (int row = firstRow; row < firstRow + count; row++) {
      deletes.add(new Delete(key(row)));
    }
    try (Table open = utility.getConnection().getTable(table)) {
      open.delete(deletes);
    }
    utility.flush(table);
  }

  private static byte[] key(int row) {
    return Bytes.toBytes(String.format("%08d", row));
  }

  /** A number that two contents share only if they are equal, as good as. */
  public long contentHash(TableName table) throws IOException {
    long hash = 1;
    try (Table open = utility.getConnection().getTable(table);
        ResultScanner results = open.getScanner(new Scan().readAllVersions())) {
      for (Result result : results) {
        hash = 31 * hash + Bytes.hashCode(result.getRow());
        hash = 31 * hash + Bytes.hashCode(result.value());
      }
    }
    return hash;
  }

  public List<HRegion> regions(TableName table) {
    return utility.getMiniHBaseCluster().getRegions(table);
  }

  /** Whether a compaction of a table runs or waits, in what the store itself notes. */
  public boolean isUnderCompaction(TableName table) {
    CompactSplit split = (CompactSplit) server().getCompactionRequestor();
    return regions(table).stream()
        .flatMap(region -> region.getStores().stream())
        .anyMatch(split::isUnderCompaction);
  }

  /** Files of all regions of a table. */
  public int fileCount(TableName table) {
    return regions(table).stream()
        .flatMap(region -> region.getStores().stream())
        .mapToInt(store -> store.getStorefilesCount())
        .sum();
  }
}
