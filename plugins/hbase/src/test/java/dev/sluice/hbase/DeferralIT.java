package dev.sluice.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sluice.local.protocol.ProtocolClient;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Compactions that are put off: needs a patched store, -Dhbase.server.jar=PATH. */
@ExtendWith(PluginCluster.Shared.class)
class DeferralIT {
  private static final String KIND = "compaction";
  private static final int ROWS = 50;

  private final PluginCluster cluster;
  private ProtocolClient client;

  DeferralIT(PluginCluster cluster) {
    this.cluster = cluster;
  }

  @BeforeEach
  void connect() throws Exception {
    client = cluster.client();
    Map<?, ?> description = client.call("describe", "{'protocol_version':{'major':1,'minor':0}}");
    assumeTrue(
        description.toString().contains("defer_until_debt_bytes"),
        "the store is not patched: give its jar as hbase.server.jar");
  }

  @AfterEach
  void clear() throws Exception {
    client.clear();
    client.close();
  }

  /** As many files as a store compacts by itself. */
  private TableName dueTable(String name) throws Exception {
    TableName table = cluster.create(name);
    addDueFiles(table);
    return table;
  }

  private void addDueFiles(TableName table) throws Exception {
    for (int file = 0; file < 3; file++) {
      cluster.addFileByRequest(table, file * ROWS, ROWS);
    }
  }

  private boolean isDeferred(String table) throws Exception {
    return !client.tasks(KIND, table, "deferred").isEmpty();
  }

  @Test
  void aDueCompactionWaitsForItsOrder() throws Exception {
    client.set(KIND, "", "defer_until_debt_bytes=1e12");
    TableName table = dueTable("deferred");
    cluster.await(() -> isDeferred("deferred"));
    assertEquals(3, cluster.fileCount(table));
    assertEquals(List.of(), client.tasks(KIND, "deferred", "running"));
    client.clear();
    cluster.await(() -> cluster.fileCount(table) == 1 && !isDeferred("deferred"));
  }

  @Test
  void deferralEndsWithItsTimeToLive() throws Exception {
    client.set(KIND, "", "defer_until_debt_bytes=1e12", 3);
    TableName table = dueTable("deadline");
    cluster.await(() -> cluster.fileCount(table) == 1);
  }

  @Test
  void deferralEndsWithTheDebt() throws Exception {
    TableName table = cluster.create("grown");
    client.set(KIND, "grown", "defer_until_debt_bytes=" + 2.5 * ROWS * PluginCluster.VALUE_BYTES);
    addDueFiles(table);
    // Two files of the three are debt, three of the four, the largest of which is not counted.
    cluster.await(() -> isDeferred("grown"));
    cluster.addFileByRequest(table, 3 * ROWS, 2 * ROWS);
    cluster.await(() -> cluster.fileCount(table) == 1);
  }

  @Test
  void startGoesPastDeferral() throws Exception {
    client.set(KIND, "", "defer_until_debt_bytes=1e12");
    TableName table = dueTable("started");
    cluster.await(() -> isDeferred("started"));
    client.start(KIND, "started");
    cluster.await(() -> cluster.fileCount(table) == 1);
    assertEquals(1, client.leases().size());
  }

  @Test
  void aMinorOneTakesTheFilesOfThePolicyAlone() throws Exception {
    client.set(KIND, "", "defer_until_debt_bytes=1e12");
    TableName table = cluster.create("minor");
    // The first file is too large to go with the others.
    cluster.addFileByRequest(table, 0, 20 * ROWS);
    for (int file = 20; file < 23; file++) {
      cluster.addFileByRequest(table, file * ROWS, ROWS);
    }
    cluster.await(() -> isDeferred("minor"));
    client.start(KIND, "minor", "minor");
    cluster.await(() -> cluster.fileCount(table) == 2 && !cluster.isUnderCompaction(table));
    client.start(KIND, "minor", "major");
    cluster.await(() -> cluster.fileCount(table) == 1);
  }

  @Test
  void noMoreCompactionsRunThanTheConcurrency() throws Exception {
    client.set(KIND, "", "concurrency=1");
    client.set(KIND, "", "hold");
    TableName first = dueTable("first");
    cluster.await(() -> !client.tasks(KIND, "first", "held").isEmpty());
    TableName second = dueTable("second");
    cluster.await(() -> isDeferred("second"));
    assertEquals(List.of(), client.tasks(KIND, "second", "held"));
    client.set(KIND, "", "full");
    cluster.await(() -> cluster.fileCount(first) == 1 && cluster.fileCount(second) == 1);
  }

  @Test
  void aCompactionCountsWhileItOpensItsFiles() throws Exception {
    client.set(KIND, "", "concurrency=1");
    TableName opening = TableName.valueOf("slowopening");
    cluster
        .admin()
        .createTable(
            TableDescriptorBuilder.newBuilder(opening)
                .setColumnFamily(ColumnFamilyDescriptorBuilder.of(PluginCluster.FAMILY))
                .setCoprocessor(SlowOpening.class.getName())
                .build());
    addDueFiles(opening);
    cluster.await(() -> SlowOpening.REACHED.getCount() == 0);
    long reached = System.nanoTime();
    try {
      dueTable("afteropening");
      cluster.await(() -> isDeferred("afteropening"));
      // Longer than a task may take from its turn until it begins.
      cluster.await(() -> System.nanoTime() - reached > TimeUnit.SECONDS.toNanos(3));
      assertTrue(isDeferred("afteropening"));
    } finally {
      SlowOpening.OPENED.countDown();
    }
    cluster.await(() -> cluster.fileCount(opening) == 1 && !isDeferred("afteropening"));
  }

  /** Without it the one that has waited longest goes first. */
  @Test
  void theHigherPriorityGoesFirst() throws Exception {
    client.set(KIND, "", "concurrency=1");
    client.set(KIND, "", "hold");
    TableName running = dueTable("running");
    cluster.await(() -> !client.tasks(KIND, "running", "held").isEmpty());
    TableName low = dueTable("low");
    cluster.await(() -> isDeferred("low"));
    TableName high = dueTable("high");
    cluster.await(() -> isDeferred("high"));
    client.set(KIND, "low", "hold");
    client.set(KIND, "high", "hold");
    client.set(KIND, "high", "priority=1");
    client.set(KIND, "", "full");
    cluster.await(() -> !client.tasks(KIND, "high", "held").isEmpty());
    assertTrue(isDeferred("low"));
    assertEquals(3, cluster.fileCount(low));
    client.set(KIND, "high", "full");
    client.set(KIND, "low", "full");
    for (TableName table : List.of(running, low, high)) {
      cluster.await(() -> cluster.fileCount(table) == 1);
    }
  }

  @Test
  void aRegionClosesWithADeferredCompaction() throws Exception {
    client.set(KIND, "", "defer_until_debt_bytes=1e12");
    TableName table = dueTable("closing");
    cluster.await(() -> isDeferred("closing"));
    long before = cluster.contentHash(table);
    cluster.admin().disableTable(table);
    cluster.await(() -> !isDeferred("closing"));
    cluster.admin().enableTable(table);
    assertEquals(before, cluster.contentHash(table));
    // Where it opens the store asks again.
    client.clear();
    cluster.await(() -> cluster.fileCount(table) == 1);
  }

  @Test
  void compactionsAreSwitchedOffWithADeferredOne() throws Exception {
    client.set(KIND, "", "defer_until_debt_bytes=1e12");
    TableName table = dueTable("off");
    cluster.await(() -> isDeferred("off"));
    cluster.admin().compactionSwitch(false, List.of());
    cluster.await(() -> !isDeferred("off"));
    cluster.admin().compactionSwitch(true, List.of());
    client.clear();
    cluster.await(() -> !cluster.isUnderCompaction(table));
    client.start(KIND, "off");
    cluster.await(() -> cluster.fileCount(table) == 1);
  }

  @Test
  void whatIsDeferredIsReleasedBeforeItsStoreBlocks() throws Exception {
    double endsBefore = client.figure("compaction_order_ends_total");
    client.set(KIND, "", "defer_until_debt_bytes=1e12");
    TableName table = dueTable("filling");
    cluster.await(() -> isDeferred("filling"));
    for (int file = 3; file < PluginCluster.BLOCKING_FILES - 1; file++) {
      cluster.addFileByRequest(table, file * ROWS, ROWS);
    }
    cluster.await(() -> cluster.fileCount(table) < PluginCluster.BLOCKING_FILES - 2);
    assertTrue(client.figure("compaction_order_ends_total") > endsBefore);
    cluster.await(() -> client.takesOrders(KIND));
  }
}
