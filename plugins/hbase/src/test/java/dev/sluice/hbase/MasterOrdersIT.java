package dev.sluice.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.sluice.local.protocol.ProtocolClient;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.master.HMaster;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Orders on the normalizer, and on compactions of tables, at the socket of an active master. */
@ExtendWith(PluginCluster.Shared.class)
class MasterOrdersIT {
  private static final String NORMALIZATION = "normalization";
  private static final String COMPACTION = "compaction";
  private static final byte[][] SPLITS = {Bytes.toBytes("g"), Bytes.toBytes("n")};
  private static final int ROWS = 20;

  private final PluginCluster cluster;
  private ProtocolClient client;

  MasterOrdersIT(PluginCluster cluster) {
    this.cluster = cluster;
  }

  @BeforeEach
  void connect() throws Exception {
    client = cluster.masterClient();
  }

  @AfterEach
  void clear() throws Exception {
    client.clear();
    client.close();
  }

  private HMaster master() {
    return cluster.utility().getMiniHBaseCluster().getMaster();
  }

  /** Three empty regions, which the normalizer merges. */
  private TableName unevenTable(String name) throws Exception {
    TableName table = TableName.valueOf(name);
    cluster.utility().createTable(table, Bytes.toBytes(PluginCluster.FAMILY), SPLITS).close();
    TableDescriptor descriptor =
        TableDescriptorBuilder.newBuilder(cluster.admin().getDescriptor(table))
            .setNormalizationEnabled(true)
            .setNormalizerTargetRegionSize(100)
            .build();
    cluster.admin().modifyTable(descriptor);
    cluster.admin().normalizerSwitch(true);
    return table;
  }

  private int regionCount(TableName table) throws IOException {
    return cluster.admin().getRegions(table).size();
  }

  /** A run of the normalizer's chore, as the master's clock starts it. */
  private void runChore() {
    master().getRegionNormalizerManager().getRegionNormalizerChore().choreForTesting();
  }

  private List<Map<?, ?>> tasks(String kind, String scope) throws IOException {
    return ((List<?>) client.snapshot().get("tasks"))
        .stream()
            .<Map<?, ?>>map(task -> (Map<?, ?>) task)
            .filter(task -> kind.equals(task.get("kind")) && scope.equals(task.get("scope")))
            .toList();
  }

  private void awaitPutOff(String table) throws Exception {
    cluster.await(
        () -> {
          runChore();
          return !tasks(NORMALIZATION, table).isEmpty();
        });
    assertEquals("deferred", tasks(NORMALIZATION, table).get(0).get("state"));
  }

  @Test
  void theNormalizerGoesOnByItselfWhenTheLeaseEnds() throws Exception {
    client.set(NORMALIZATION, "", "hold");
    TableName table = unevenTable("normalheld");
    awaitPutOff("normalheld");
    assertEquals(3, regionCount(table));
    client.set(NORMALIZATION, "", "hold", 1);
    cluster.await(
        () -> {
          runChore();
          return regionCount(table) == 1;
        });
    assertEquals(List.of(), client.leases());
  }

  @Test
  void oneTableIsHeldWhileOthersAreNot() throws Exception {
    TableName held = unevenTable("normalone");
    client.set(NORMALIZATION, "normalone", "hold");
    TableName free = unevenTable("normalother");
    awaitPutOff("normalone");
    cluster.await(
        () -> {
          runChore();
          return regionCount(free) == 1;
        });
    assertEquals(3, regionCount(held));
  }

  @Test
  void splitsAndMergesOfOperatorsGoThroughAHold() throws Exception {
    client.set(NORMALIZATION, "", "hold");
    TableName table = unevenTable("normalasked");
    awaitPutOff("normalasked");
    List<RegionInfo> regions = cluster.admin().getRegions(table);
    byte[][] last = {
      regions.get(1).getEncodedNameAsBytes(), regions.get(2).getEncodedNameAsBytes()
    };
    cluster.admin().mergeRegionsAsync(last, false).get();
    assertEquals(2, regionCount(table));
    cluster.write(table, 0, ROWS);
    cluster.utility().flush(table);
    cluster.admin().split(table, Bytes.toBytes("00000010"));
    cluster.await(() -> regionCount(table) == 3);
  }

  @Test
  void allRegionsOfATableAreCompacted() throws Exception {
    TableName table = TableName.valueOf("mastermajor");
    byte[][] splits = {Bytes.toBytes("00000005")};
    cluster.utility().createTable(table, Bytes.toBytes(PluginCluster.FAMILY), splits).close();
    cluster.addFile(table, 0, 10);
    cluster.addFile(table, 0, 10);
    long before = cluster.contentHash(table);
    assertEquals(4, cluster.fileCount(table));
    client.start(COMPACTION, "mastermajor", "major");
    cluster.await(() -> cluster.fileCount(table) == 2);
    cluster.await(() -> tasks(COMPACTION, "mastermajor").isEmpty());
    assertEquals(before, cluster.contentHash(table));
  }

  @Test
  void aFamilyIsCompacted() throws Exception {
    TableName table = cluster.createWithTwoFiles("masterfamily", ROWS);
    client.start(COMPACTION, "masterfamily/" + PluginCluster.FAMILY);
    cluster.await(() -> cluster.fileCount(table) == 1);
  }

  @Test
  void aMinorCompactionTakesWhatTheStoreSelects() throws Exception {
    TableName table = cluster.create("masterminor");
    for (int file = 0; file < 3; file++) {
      cluster.addFile(table, file * ROWS, ROWS);
    }
    client.start(COMPACTION, "masterminor", "minor");
    cluster.await(() -> cluster.fileCount(table) == 1);
  }

  @Test
  void whatNoRegionServerWouldDoIsRefused() throws Exception {
    TableName disabled = cluster.createWithTwoFiles("masterdisabled", ROWS);
    cluster.admin().disableTable(disabled);
    TableName off = cluster.createWithTwoFiles("masteroff", ROWS);
    cluster
        .admin()
        .modifyTable(
            TableDescriptorBuilder.newBuilder(cluster.admin().getDescriptor(off))
                .setCompactionEnabled(false)
                .build());
    assertEquals(-32003, refusalOfStart("masterdisabled"));
    assertEquals(-32003, refusalOfStart("masteroff"));
    assertEquals(-32003, refusalOfStart(""));
    assertEquals(-32004, refusalOfStart("masterunknown"));
    assertEquals(-32004, refusalOfStart("masteroff/unknown"));
    assertEquals(-32004, refusalOfStart("no table: at all"));
    cluster.admin().enableTable(disabled);
  }

  private int refusalOfStart(String scope) {
    return assertThrows(
            ProtocolClient.RefusedException.class, () -> client.start(COMPACTION, scope))
        .code();
  }

  @Test
  void theClusterIsSeen() throws Exception {
    cluster.createWithTwoFiles("masterseen", ROWS);
    // Servers report each few seconds; one that an earlier test has stopped may still be known.
    cluster.await(() -> client.figure("store_files") >= 2 && client.figure("open_regions") > 0);
    cluster.await(() -> client.figure("transition_regions") == 0);
    cluster.await(() -> client.figure("live_servers") == 1);
    cluster.await(() -> client.figure("store_file_bytes") > 2.0 * ROWS * PluginCluster.VALUE_BYTES);
  }

  @Test
  void theMasterServesNoRegionServersPart() throws Exception {
    Map<?, ?> description = client.call("describe", "{'protocol_version':{'major':1,'minor':1}}");
    assertEquals("master", description.get("instance"));
    assertFalse(description.toString().contains("flush"), description.toString());
  }
}
