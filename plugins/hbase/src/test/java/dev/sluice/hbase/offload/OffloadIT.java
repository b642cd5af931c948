package dev.sluice.hbase.offload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sluice.hbase.PluginCluster;
import dev.sluice.local.protocol.ProtocolClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.coprocessor.ObserverContext;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessor;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessorEnvironment;
import org.apache.hadoop.hbase.coprocessor.RegionObserver;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.InternalScanner;
import org.apache.hadoop.hbase.regionserver.ScanType;
import org.apache.hadoop.hbase.regionserver.Store;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionLifeCycleTracker;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionRequest;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionRequestImpl;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Compactions that a worker does which real agents have started, and what becomes of failed ones.
 */
@Tag("long")
class OffloadIT {
  private static final String BINARY_PROPERTY = "sluice.binary";
  private static final String KIND = "compaction";
  // Some MB: a worker takes long enough to be caught at it.
  private static final int MANY_ROWS = 3000;

  private static final OffloadCounts COUNTS = OffloadCounts.ofProcess();

  private static Path folder;
  private static PluginCluster cluster;
  private static TwoAgents agents;

  /** Lets all cells through, as one that hides some would do with others. */
  public static final class Watches implements RegionCoprocessor, RegionObserver {
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
      return scanner;
    }
  }

  @BeforeAll
  static void start() throws Exception {
    String binary = System.getProperty(BINARY_PROPERTY, "");
    assumeTrue(!binary.isEmpty(), "give the path of the program sluice as " + BINARY_PROPERTY);
    folder = Files.createTempDirectory("offload");
    cluster =
        new PluginCluster(
            1,
            Map.of(
                "hbase.hstore.defaultengine.compactor.class",
                OffloadingCompactor.class.getName(),
                OffloadingCompactor.SOCKET_KEY,
                folder.resolve("c.sock").toString()));
    FileSystem fileSystem = cluster.utility().getTestFileSystem();
    String root = fileSystem.makeQualified(cluster.utility().getDefaultRootDirPath()).toString();
    agents = new TwoAgents(folder, binary, root);
    agents.start();
    TableName table = cluster.createWithTwoFiles("first", 10);
    awaitRemote(table);
  }

  @AfterAll
  static void stop() throws Exception {
    if (cluster != null) {
      cluster.close();
    }
    if (agents != null) {
      agents.end();
    }
  }

  /** Until the agent has heard of its peer, compactions stay here. */
  private static void awaitRemote(TableName table) throws Exception {
    long before = COUNTS.doneTotal();
    int[] row = {100};
    try {
      cluster.await(
          () -> {
            cluster.addFile(table, row[0]++, 1);
            compact(table);
            return COUNTS.doneTotal() > before;
          });
    } catch (AssertionError e) {
      throw new AssertionError(agents.logs(), e);
    }
  }

  /** A major compaction, and its end. */
  private static void compact(TableName table) throws Exception {
    cluster.admin().majorCompact(table);
    int families = cluster.admin().getDescriptor(table).getColumnFamilyCount();
    int regions = cluster.regions(table).size();
    awaitFiles(table, families * regions);
  }

  private static void awaitFiles(TableName table, int count) throws Exception {
    cluster.await(() -> cluster.fileCount(table) == count && !cluster.isUnderCompaction(table));
  }

  /** A minor compaction keeps marks of deletion, a major one drops them; both drop what expired. */
  @Test
  void aWorkerWritesWhatTheServerWouldHave() throws Exception {
    long now = System.currentTimeMillis();
    TwinTables twins = new TwinTables(cluster);
    TableName here = twins.create("here", false);
    TableName elsewhere = twins.create("elsewhere", true);
    twins.fill(here, now);
    twins.fill(elsewhere, now);
    expectEqual(twins.cells(here), twins.cells(elsewhere));
    long done = COUNTS.doneTotal();
    for (TableName table : List.of(here, elsewhere)) {
      for (byte[] family : twins.families()) {
        int before = cluster.fileCount(table);
        cluster.admin().compact(table, family);
        // Of four files the largest one is left alone.
        awaitFiles(table, before - 2);
      }
    }
    assertEquals(done + 2, COUNTS.doneTotal());
    List<String> minor = twins.cells(here);
    expectEqual(minor, twins.cells(elsewhere));
    assertEquals(twins.files(here), twins.files(elsewhere));
    for (TableName table : List.of(here, elsewhere)) {
      for (byte[] family : twins.families()) {
        int before = cluster.fileCount(table);
        cluster.admin().majorCompact(table, family);
        awaitFiles(table, before - 1);
      }
    }
    assertEquals(done + 4, COUNTS.doneTotal());
    expectEqual(twins.cells(here), twins.cells(elsewhere));
    assertEquals(twins.files(here), twins.files(elsewhere));
    assertTrue(twins.cells(here).size() < minor.size(), "a major compaction has dropped nothing");
    expectNothingLeft(elsewhere);
  }

  /** They are long: what is shown is the first difference. */
  private static void expectEqual(List<String> here, List<String> elsewhere) {
    for (int at = 0; at < Math.min(here.size(), elsewhere.size()); at++) {
      assertEquals(here.get(at), elsewhere.get(at));
    }
    assertEquals(here.size(), elsewhere.size());
  }

  private static void expectNothingLeft(TableName table) throws Exception {
    FileSystem fileSystem = cluster.utility().getTestFileSystem();
    for (HRegion region : cluster.regions(table)) {
      org.apache.hadoop.fs.Path temporary = region.getRegionFileSystem().getTempDir();
      cluster.await(
          () ->
              !fileSystem.exists(temporary)
                  || !fileSystem.listFiles(temporary, true).hasNext()
                      && fileSystem.globStatus(
                                  new org.apache.hadoop.fs.Path(temporary, JobFolder.PREFIX + "*"))
                              .length
                          == 0);
    }
    cluster.await(() -> agents.localFiles() == 0);
  }

  /** A job of a table whose worker stands still with its output open. */
  private static ProcessHandle stopAtWork(TableName table) throws Exception {
    FileSystem fileSystem = cluster.utility().getTestFileSystem();
    org.apache.hadoop.fs.Path temporary =
        cluster.regions(table).get(0).getRegionFileSystem().getTempDir();
    org.apache.hadoop.fs.Path outputs =
        new org.apache.hadoop.fs.Path(temporary, JobFolder.PREFIX + "*/*/*");
    cluster.admin().majorCompact(table);
    cluster.await(() -> fileSystem.globStatus(outputs).length > 0);
    ProcessHandle worker = agents.worker().orElseThrow();
    TwoAgents.signal(worker, "STOP");
    return worker;
  }

  private static TableName large(String name) throws Exception {
    return cluster.createWithTwoFiles(name, MANY_ROWS);
  }

  private static void expectLocal(TableName table, String reason, long before, long hash)
      throws Exception {
    awaitFiles(table, 1);
    assertEquals(before + 1, COUNTS.localTotal(reason), agents.logs());
    assertEquals(hash, cluster.contentHash(table));
    expectNothingLeft(table);
  }

  @Test
  void aServerGoesOnWhoseWorkerIsKilled() throws Exception {
    TableName table = large("killed");
    TableName second = cluster.createWithTwoFiles("second", 10);
    long hash = cluster.contentHash(table);
    long lost = COUNTS.localTotal("worker-lost");
    long busy = COUNTS.localTotal("busy");
    long done = COUNTS.doneTotal();
    ProcessHandle worker = stopAtWork(table);
    compact(second);
    assertEquals(busy + 1, COUNTS.localTotal("busy"), "of the job that found no slot");
    TwoAgents.signal(worker, "KILL");
    expectLocal(table, "worker-lost", lost, hash);
    assertEquals(done, COUNTS.doneTotal());
    // The agent leaves a node out for 10 s whose worker was lost.
    awaitRemote(second);
  }

  @Test
  void aResultThatIsNoneIsNotTaken() throws Exception {
    TableName table = cluster.createWithTwoFiles("lied", 10);
    long hash = cluster.contentHash(table);
    long invalid = COUNTS.localTotal(Reasons.INVALID);
    agents.lie(true);
    try {
      cluster.admin().majorCompact(table);
      expectLocal(table, Reasons.INVALID, invalid, hash);
    } finally {
      agents.lie(false);
    }
  }

  /** Each file of a store is in order, and is no merge of that store's files. */
  @Test
  void aFileThatIsNoMergeIsRefused() throws Exception {
    TableName table = cluster.createWithTwoFiles("unmerged", 10);
    HStore store = cluster.regions(table).get(0).getStores().get(0);
    List<HStoreFile> files = List.copyOf(store.getStorefiles());
    CompactionRequestImpl request = new CompactionRequestImpl(files);
    request.setIsMajor(true, true);
    OutputCheck check = new OutputCheck(store, request);
    for (HStoreFile file : files) {
      long bytes = file.getReader().length();
      for (OffloadOutcome.OutputFile said :
          List.of(
              new OffloadOutcome.OutputFile("a", bytes, 10),
              new OffloadOutcome.OutputFile("a", bytes + 1, 10),
              new OffloadOutcome.OutputFile("a", bytes, 11))) {
        StaysLocalException refused =
            assertThrows(StaysLocalException.class, () -> check.check(file.getPath(), said));
        assertEquals(Reasons.INVALID, refused.reason());
      }
    }
  }

  @Test
  void aServerGoesOnWhoseAgentIsKilled() throws Exception {
    TableName table = large("agentless");
    long hash = cluster.contentHash(table);
    long silent = COUNTS.localTotal(Reasons.AGENT_SILENT);
    long without = COUNTS.localTotal(Reasons.NO_AGENT);
    stopAtWork(table);
    agents.killStoreAgent();
    expectLocal(table, Reasons.AGENT_SILENT, silent, hash);
    cluster.await(() -> agents.worker().isEmpty());
    cluster.addFile(table, 2 * MANY_ROWS, 10);
    compact(table);
    assertEquals(without + 1, COUNTS.localTotal(Reasons.NO_AGENT));
    agents.startStoreAgent();
    awaitRemote(table);
  }

  private static String idOf(ProtocolClient client, TableName table, String state)
      throws Exception {
    List<Map<?, ?>> tasks = new ArrayList<>();
    cluster.await(() -> tasks.addAll(client.tasks(KIND, table.getNameAsString(), state)));
    return (String) tasks.get(0).get("id");
  }

  /** Without an agent it is seen at once whether a compaction was offered. */
  @Test
  void whatIsHeldIsOfferedAfterTheHoldAndStaysTheSameTask() throws Exception {
    TableName table = cluster.createWithTwoFiles("heldbefore", 10);
    agents.killStoreAgent();
    long without = COUNTS.localTotal(Reasons.NO_AGENT);
    try (ProtocolClient client = cluster.client()) {
      client.set(KIND, "heldbefore", "hold");
      cluster.admin().majorCompact(table);
      String held = idOf(client, table, "held");
      assertEquals(without, COUNTS.localTotal(Reasons.NO_AGENT));
      // So slow that it is still there when it is looked for.
      client.set(KIND, "heldbefore", "rate_bytes_per_second=10");
      cluster.await(() -> COUNTS.localTotal(Reasons.NO_AGENT) == without + 1);
      assertEquals(held, idOf(client, table, "running"));
      client.clear();
    }
    awaitFiles(table, 1);
    agents.startStoreAgent();
    awaitRemote(table);
  }

  /** As one that runs here: it is not begun again by itself. */
  @Test
  void anOrderAbortsIt() throws Exception {
    TableName table = large("aborted");
    long done = COUNTS.doneTotal();
    stopAtWork(table);
    try (ProtocolClient client = cluster.client()) {
      List<Map<?, ?>> tasks = client.tasks(KIND, "aborted", "running");
      client.abort(KIND, (String) tasks.get(0).get("id"));
    }
    cluster.await(() -> !cluster.isUnderCompaction(table));
    assertEquals(2, cluster.fileCount(table));
    assertEquals(done, COUNTS.doneTotal());
    cluster.await(() -> agents.worker().isEmpty());
    expectNothingLeft(table);
    awaitRemote(table);
  }

  @Test
  void whatAnotherNodeWouldDoOtherwiseStays() throws Exception {
    TableName observed = TableName.valueOf("observed");
    cluster
        .admin()
        .createTable(
            TableDescriptorBuilder.newBuilder(observed)
                .setColumnFamily(ColumnFamilyDescriptorBuilder.of(PluginCluster.FAMILY))
                .setCoprocessor(Watches.class.getName())
                .build());
    cluster.addFile(observed, 0, 10);
    cluster.addFile(observed, 10, 10);
    long before = COUNTS.localTotal(Reasons.COPROCESSOR);
    compact(observed);
    assertEquals(before + 1, COUNTS.localTotal(Reasons.COPROCESSOR));
    try (ProtocolClient client = cluster.client()) {
      assertEquals(before + 1, client.figure("compaction_offload_local_coprocessor_total"));
    }

    TableName halved = cluster.createWithTwoFiles("halved", 50);
    long halves = COUNTS.localTotal(Reasons.REFERENCE);
    long hash = cluster.contentHash(halved);
    cluster.admin().split(halved, Bytes.toBytes(String.format("%08d", 50)));
    cluster.await(() -> cluster.regions(halved).size() == 2);
    cluster.await(
        () -> {
          cluster.admin().majorCompact(halved);
          return COUNTS.localTotal(Reasons.REFERENCE) > halves;
        });
    assertEquals(hash, cluster.contentHash(halved));
  }
}
