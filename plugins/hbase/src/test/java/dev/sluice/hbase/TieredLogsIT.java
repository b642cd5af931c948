package dev.sluice.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.hbase.log.TieredLogRegion;
import dev.sluice.hbase.log.TieredWALProvider;
import dev.sluice.local.protocol.ProtocolClient;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.coprocessor.ObserverContext;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessor;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessorEnvironment;
import org.apache.hadoop.hbase.coprocessor.RegionObserver;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.Region;
import org.apache.hadoop.hbase.regionserver.wal.AbstractFSWAL;
import org.apache.hadoop.hbase.regionserver.wal.WALActionsListener;
import org.apache.hadoop.hbase.wal.AbstractFSWALProvider;
import org.apache.hadoop.hbase.wal.WALEdit;
import org.apache.hadoop.hbase.wal.WALKey;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A region server with a log on each tier. */
class TieredLogsIT {
  private static final int ROWS = 20;
  // Less than each log has when rows are written to both.
  private static final long FLUSH_BYTES = ROWS / 2 * PluginCluster.VALUE_BYTES * 3L / 4;

  private static PluginCluster cluster;
  private ProtocolClient client;

  @BeforeAll
  static void start() throws Exception {
    cluster =
        new PluginCluster(
            1,
            Map.of(
                "hbase.wal.provider",
                TieredWALProvider.class.getName(),
                HConstants.REGION_IMPL,
                TieredLogRegion.class.getName(),
                HConstants.HREGION_MEMSTORE_FLUSH_SIZE,
                Long.toString(FLUSH_BYTES)));
  }

  @AfterAll
  static void stop() throws Exception {
    cluster.close();
  }

  @BeforeEach
  void connect() throws Exception {
    client = cluster.client();
  }

  @AfterEach
  void clear() throws Exception {
    client.clear();
    client.close();
  }

  private double figure(String name) throws IOException {
    return (Double) ((Map<?, ?>) client.snapshot().get("figures")).get(name);
  }

  private static List<Path> logs(HRegionServer server) throws IOException {
    List<Path> found = new ArrayList<>(logs(server, "slow"));
    found.addAll(logs(server, "fast"));
    return found;
  }

  private static List<Path> logs(HRegionServer server, String tier) throws IOException {
    String folder = AbstractFSWALProvider.getWALDirectoryName(server.getServerName().toString());
    List<Path> found = new ArrayList<>();
    for (FileStatus file :
        server.getWALFileSystem().listStatus(new Path(server.getWALRootDir(), folder))) {
      if (file.getPath().getName().contains("." + tier + ".")) {
        found.add(file.getPath());
      }
    }
    return found;
  }

  /** Writes rows in turn to both logs. */
  private static void writeToBoth(ProtocolClient client, TableName table) throws Exception {
    for (int i = 0; i < ROWS; i++) {
      TierOrders.tier(client, i % 2 == 0 ? "slow" : "fast");
      cluster.write(table, i / 2, 1);
    }
  }

  @Test
  void eachLogHasThePolicyOfItsTier() throws Exception {
    FileSystem files = cluster.server().getWALFileSystem();
    for (Path file : logs(cluster.server(), "fast")) {
      assertEquals("ALL_SSD", files.getStoragePolicy(file).getName());
    }
    for (Path file : logs(cluster.server(), "slow")) {
      assertEquals("HOT", files.getStoragePolicy(file).getName());
    }
    assertFalse(logs(cluster.server(), "slow").isEmpty());
  }

  @Test
  void anOrderSendsEditsToALogAtOnce() throws Exception {
    TableName table = cluster.create("tierordered");
    TierOrders.tier(client, "slow");
    double slow = figure("wal_slow_bytes_total");
    double fast = figure("wal_fast_edits_total");
    cluster.write(table, 0, ROWS);
    assertTrue(figure("wal_slow_bytes_total") >= slow + ROWS * PluginCluster.VALUE_BYTES);
    assertEquals(fast, figure("wal_fast_edits_total"));
  }

  @Test
  void largeEditsAreRedirected() throws Exception {
    TableName table = cluster.create("tiersize");
    TierOrders.number(client, "redirect_queue_requests", 1000);
    TierOrders.number(client, "redirect_size_bytes", PluginCluster.VALUE_BYTES / 2);
    double slow = figure("wal_slow_edits_total");
    cluster.write(table, 0, 1);
    assertEquals(slow + 1, figure("wal_slow_edits_total"));
    TierOrders.number(client, "redirect_size_bytes", PluginCluster.VALUE_BYTES * 2);
    cluster.write(table, 1, 1);
    assertEquals(slow + 1, figure("wal_slow_edits_total"));
  }

  @Test
  void aFlushLetsTheFilesOfBothGo() throws Exception {
    TableName table = cluster.create("tierflushed");
    writeToBoth(client, table);
    awaitThatNoneIsLeft(logs(cluster.server()));
  }

  private void flushAll() throws IOException {
    for (Region region : cluster.server().getRegions()) {
      // Its log is another.
      if (!region.getRegionInfo().isMetaRegion()) {
        cluster.admin().flushRegion(region.getRegionInfo().getRegionName());
      }
    }
  }

  /** Flushes again and again: a region that is being flushed leaves what has come meanwhile. */
  private void awaitThatNoneIsLeft(List<Path> files) throws Exception {
    HRegionServer server = cluster.server();
    cluster.await(
        () -> {
          flushAll();
          cluster.admin().rollWALWriter(server.getServerName());
          List<Path> left = logs(server);
          left.retainAll(files);
          return left.isEmpty();
        });
  }

  /** The logs write so late that a region has begun its last flush meanwhile. */
  @Test
  void editsThatNobodyWaitsForKeepNoFileOfARegionThatIsClosed() throws Exception {
    TableName table = TableName.valueOf("tierasynchronous");
    cluster
        .admin()
        .createTable(
            TableDescriptorBuilder.newBuilder(table)
                .setColumnFamily(ColumnFamilyDescriptorBuilder.of(PluginCluster.FAMILY))
                .setDurability(Durability.ASYNC_WAL)
                .build());
    List<Path> before = logs(cluster.server());
    WALActionsListener slowness = slowness();
    cluster.server().getWALs().forEach(log -> log.registerWALActionsListener(slowness));
    writeToBoth(client, table);
    cluster.admin().disableTable(table);
    cluster.server().getWALs().forEach(log -> log.unregisterWALActionsListener(slowness));
    awaitThatNoneIsLeft(before);
  }

  private static WALActionsListener slowness() {
    return new WALActionsListener() {
      @Override
      public void visitLogEntryBeforeWrite(RegionInfo region, WALKey key, WALEdit edit) {
        try {
          Thread.sleep(50);
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
    };
  }

  /** Logs with files are what hbase-backup asks for, without a region. */
  @Test
  void eachLogIsRolledByItself() throws Exception {
    HRegionServer server = cluster.server();
    AbstractFSWAL<?> fast = assertInstanceOf(AbstractFSWAL.class, server.getWAL(null));
    AtomicInteger rolls = new AtomicInteger();
    WALActionsListener counter =
        new WALActionsListener() {
          @Override
          public void postLogRoll(Path before, Path now) {
            rolls.incrementAndGet();
          }
        };
    server.getWALs().forEach(log -> log.registerWALActionsListener(counter));
    long before = fast.getFilenum();
    server.getWalRoller().requestRollAll();
    cluster.await(() -> rolls.get() >= 2 && server.getWalRoller().walRollFinished());
    server.getWALs().forEach(log -> log.unregisterWALActionsListener(counter));
    assertEquals(2, rolls.get());
    assertTrue(fast.getFilenum() > before);
  }

  @Test
  void whatAServerThatDiesHasLoggedIsReplayedFromBoth() throws Exception {
    long before = killAfterWriting("doomed", cluster.create("tierreplayed"));
    assertEquals(before, cluster.contentHash(TableName.valueOf("tierreplayed")));
  }

  /**
   * The first file has been read and flushed when the first attempt at opening the region fails.
   */
  @Test
  void aReplayThatIsInterruptedIsMadeUpFor() throws Exception {
    TableName table = TableName.valueOf("tierinterrupted");
    cluster
        .admin()
        .createTable(
            TableDescriptorBuilder.newBuilder(table)
                .setColumnFamily(ColumnFamilyDescriptorBuilder.of(PluginCluster.FAMILY))
                .setCoprocessor(Interruption.class.getName())
                .build());
    long before = killAfterWriting("interrupted", table);
    assertEquals(4, Interruption.FILES.get());
    assertEquals(before, cluster.contentHash(table));
  }

  /**
   * Has a server of its own die when it has written to both logs, and waits until the region is
   * open elsewhere. The last value of each row is in one log, the one before in the other.
   */
  private static long killAfterWriting(String instance, TableName table) throws Exception {
    HRegionServer doomed = startWithoutFlushes(instance);
    cluster.moveTo(doomed, table);
    try (ProtocolClient orders = cluster.client(instance)) {
      writeToBoth(orders, table);
      assertEquals(1, logs(doomed, "slow").size());
    }
    long content = cluster.contentHash(table);
    cluster.utility().getMiniHBaseCluster().killRegionServer(doomed.getServerName());
    cluster.await(() -> !cluster.server().getRegions(table).isEmpty());
    return content;
  }

  private static HRegionServer startWithoutFlushes(String instance) throws Exception {
    Configuration conf = cluster.utility().getMiniHBaseCluster().getConfiguration();
    conf.setLong(HConstants.HREGION_MEMSTORE_FLUSH_SIZE, 100 * FLUSH_BYTES);
    try {
      return cluster.startServer(instance);
    } finally {
      conf.setLong(HConstants.HREGION_MEMSTORE_FLUSH_SIZE, FLUSH_BYTES);
    }
  }

  /** Ends a replay at its second file. */
  public static final class Interruption implements RegionCoprocessor, RegionObserver {
    static final AtomicInteger FILES = new AtomicInteger();

    @Override
    public Optional<RegionObserver> getRegionObserver() {
      return Optional.of(this);
    }

    @Override
    public void preReplayWALs(
        ObserverContext<? extends RegionCoprocessorEnvironment> context,
        RegionInfo region,
        Path edits)
        throws IOException {
      if (FILES.incrementAndGet() == 2) {
        throw new IOException("The replay is interrupted.");
      }
    }
  }
}
