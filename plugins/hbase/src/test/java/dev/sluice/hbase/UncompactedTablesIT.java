package dev.sluice.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.protocol.ProtocolClient;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tables that are never compacted may have any number of files. */
@ExtendWith(PluginCluster.Shared.class)
class UncompactedTablesIT {
  private static final String KIND = "compaction";

  private final PluginCluster cluster;
  private ProtocolClient client;

  UncompactedTablesIT(PluginCluster cluster) {
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

  private static TableDescriptorBuilder describe(TableName table) {
    return TableDescriptorBuilder.newBuilder(table)
        .setColumnFamily(ColumnFamilyDescriptorBuilder.of(PluginCluster.FAMILY));
  }

  /** Has as many files as would end every order. */
  private TableName fullTable(String name) throws Exception {
    TableName table = TableName.valueOf(name);
    cluster.admin().createTable(describe(table).setCompactionEnabled(false).build());
    for (int file = 0; file < PluginCluster.BLOCKING_FILES; file++) {
      cluster.addFile(table, file, 1);
    }
    return table;
  }

  private void assertOrdersHold() throws Exception {
    client.set(KIND, "", "stock");
    // The files of all stores are counted at the start of a flush.
    TableName other = cluster.createWithTwoFiles("uncompactedother", 1);
    assertEquals(1, client.leases().size());
    cluster.utility().deleteTable(other);
  }

  @Test
  void filesOfATableWithoutCompactionsEndNoOrder() throws Exception {
    TableName table = fullTable("uncompacted");
    assertOrdersHold();
    cluster.utility().deleteTable(table);
  }

  private long debts(String table) throws Exception {
    return ((List<?>) client.snapshot().get("debts"))
        .stream()
            .<Map<?, ?>>map(debt -> (Map<?, ?>) debt)
            .filter(debt -> KIND.equals(debt.get("kind")))
            .filter(debt -> (table + "/" + PluginCluster.FAMILY).equals(debt.get("scope")))
            .count();
  }

  /** Else a policy would let all others go to pay it off, which they cannot. */
  @Test
  void aTableWithoutCompactionsHasNoDebt() throws Exception {
    TableName table = fullTable("nodebt");
    TableName other = cluster.createWithTwoFiles("withdebt", 1);
    assertEquals(1, debts("withdebt"));
    assertEquals(0, debts("nodebt"));
    cluster.utility().deleteTable(table);
    cluster.utility().deleteTable(other);
  }

  @Test
  void nothingIsStartedOfATableWithoutCompactions() throws Exception {
    TableName table = fullTable("notstarted");
    ProtocolClient.RefusedException refused =
        assertThrows(ProtocolClient.RefusedException.class, () -> client.start(KIND, "notstarted"));
    assertEquals(-32003, refused.code());
    assertTrue(refused.getMessage().contains("COMPACTION_ENABLED"), refused.getMessage());
    cluster.utility().deleteTable(table);
  }

  @Test
  void filesOfAReadOnlyTableEndNoOrder() throws Exception {
    TableName table = fullTable("readonly");
    cluster.admin().modifyTable(describe(table).setReadOnly(true).build());
    assertOrdersHold();
    cluster.utility().deleteTable(table);
  }
}
