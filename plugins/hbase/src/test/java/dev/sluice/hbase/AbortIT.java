package dev.sluice.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sluice.local.protocol.ProtocolClient;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hbase.TableName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Single compactions that are aborted, whatever their state: the store is as if they never were.
 */
@ExtendWith(PluginCluster.Shared.class)
class AbortIT {
  private static final String KIND = "compaction";
  private static final int ROWS = 100;

  private final PluginCluster cluster;
  private ProtocolClient client;

  AbortIT(PluginCluster cluster) {
    this.cluster = cluster;
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

  private TableName heldTable(String name) throws Exception {
    TableName table = cluster.createWithTwoFiles(name, ROWS);
    client.set(KIND, name, "hold");
    client.start(KIND, name);
    cluster.await(() -> !client.tasks(KIND, name, "held").isEmpty());
    return table;
  }

  private String idOf(String table, String state) throws Exception {
    List<Map<?, ?>> tasks = client.tasks(KIND, table, state);
    assertEquals(1, tasks.size(), tasks::toString);
    return (String) tasks.get(0).get("id");
  }

  private void awaitNoTask(String table) throws Exception {
    for (String state : List.of("queued", "deferred", "running", "held")) {
      cluster.await(() -> client.tasks(KIND, table, state).isEmpty());
    }
  }

  private void refused(int code, String id) {
    ProtocolClient.RefusedException refused =
        assertThrows(ProtocolClient.RefusedException.class, () -> client.abort(KIND, id));
    assertEquals(code, refused.code());
  }

  private void compactsAgain(TableName table, long contentBefore) throws Exception {
    client.clear();
    cluster.await(() -> !cluster.isUnderCompaction(table));
    client.start(KIND, table.getNameAsString());
    cluster.await(() -> cluster.fileCount(table) == 1);
    assertEquals(contentBefore, cluster.contentHash(table));
  }

  @Test
  void aHeldOneEndsAndItsFilesStay() throws Exception {
    TableName table = heldTable("abortheld");
    long before = cluster.contentHash(table);
    String id = idOf("abortheld", "held");
    client.abort(KIND, id);
    awaitNoTask("abortheld");
    assertEquals(2, cluster.fileCount(table));
    assertEquals(1, client.leases().size());
    refused(-32004, id);
    compactsAgain(table, before);
  }

  @Test
  void oneThatRunsEnds() throws Exception {
    TableName table = cluster.createWithTwoFiles("abortrunning", ROWS);
    long before = cluster.contentHash(table);
    // So slow that it would take hours.
    client.set(KIND, "abortrunning", "rate_bytes_per_second=10");
    client.start(KIND, "abortrunning");
    cluster.await(() -> !client.tasks(KIND, "abortrunning", "running").isEmpty());
    client.abort(KIND, idOf("abortrunning", "running"));
    awaitNoTask("abortrunning");
    assertEquals(2, cluster.fileCount(table));
    compactsAgain(table, before);
  }

  @Test
  void whatDoesNotExistIsNotFound() {
    refused(-32004, "no-such-task");
  }

  /** Takes all threads that compact. */
  private List<TableName> holdAllThreads(String prefix) throws Exception {
    List<TableName> tables = new ArrayList<>();
    for (int i = 0; i < PluginCluster.COMPACTION_THREADS; i++) {
      tables.add(heldTable(prefix + i));
    }
    return tables;
  }

  @Test
  void oneThatIsQueuedIsShownAndKeepsItsName() throws Exception {
    List<TableName> busy = holdAllThreads("shownbusy");
    TableName table = cluster.createWithTwoFiles("queued", ROWS);
    client.start(KIND, "queued");
    String id = idOf("queued", "queued");
    assertEquals(id, idOf("queued", "queued"));
    client.set(KIND, "queued", "hold");
    client.set(KIND, busy.get(0).getNameAsString(), "full");
    cluster.await(() -> !client.tasks(KIND, "queued", "held").isEmpty());
    assertEquals(id, idOf("queued", "held"));
    client.clear();
    cluster.await(() -> cluster.fileCount(table) == 1);
    awaitFiles(busy, 1);
  }

  private void awaitFiles(List<TableName> tables, int count) throws Exception {
    for (TableName table : tables) {
      cluster.await(() -> cluster.fileCount(table) == count);
    }
  }

  @Test
  void oneThatIsQueuedNeverRuns() throws Exception {
    List<TableName> busy = holdAllThreads("abortbusy");
    TableName table = cluster.createWithTwoFiles("abortqueued", ROWS);
    long before = cluster.contentHash(table);
    client.start(KIND, "abortqueued");
    String id = idOf("abortqueued", "queued");
    if (!PluginCluster.isPatched()) {
      refused(-32003, id);
      return;
    }
    client.abort(KIND, id);
    assertEquals(List.of(), client.tasks(KIND, "abortqueued", "queued"));
    client.clear();
    awaitFiles(busy, 1);
    cluster.await(() -> !cluster.isUnderCompaction(table));
    assertEquals(2, cluster.fileCount(table));
    compactsAgain(table, before);
  }

  @Test
  void oneThatIsPutOffNeverRuns() throws Exception {
    assumeTrue(
        PluginCluster.isPatched(), "the store is not patched: give its jar as hbase.server.jar");
    client.set(KIND, "", "defer_until_debt_bytes=1e12");
    TableName table = cluster.create("abortdeferred");
    for (int file = 0; file < 3; file++) {
      cluster.addFileByRequest(table, file * ROWS, ROWS);
    }
    long before = cluster.contentHash(table);
    cluster.await(() -> !client.tasks(KIND, "abortdeferred", "deferred").isEmpty());
    String id = idOf("abortdeferred", "deferred");
    client.abort(KIND, id);
    awaitNoTask("abortdeferred");
    cluster.await(() -> !cluster.isUnderCompaction(table));
    assertEquals(3, cluster.fileCount(table));
    refused(-32004, id);
    compactsAgain(table, before);
  }
}
