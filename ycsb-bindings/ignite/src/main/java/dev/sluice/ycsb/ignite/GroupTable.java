package dev.sluice.ycsb.ignite;

import dev.sluice.ycsb.Identifier;
import dev.sluice.ycsb.SettingException;
import dev.sluice.ycsb.StoreBinding;
import dev.sluice.ycsb.ignite.KeyGroups.Group;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.ignite.client.IgniteClient;
import org.apache.ignite.network.ClusterNode;
import org.apache.ignite.sql.ResultSet;
import org.apache.ignite.sql.SqlRow;
import org.apache.ignite.table.QualifiedName;
import org.apache.ignite.table.Table;
import org.apache.ignite.table.Tuple;
import org.apache.ignite.table.partition.Partition;
import org.apache.ignite.table.partition.PartitionManager;

/**
 * The groups of a table's keys, kept in a table beside it: where partitions are is known once it is
 * made, and every load and run has to give a key the same group.
 */
final class GroupTable {
  private GroupTable() {}

  /** Chooses the groups of a table that has just been made, and keeps them. */
  static void create(IgniteClient client, String table, IgniteSettings settings) {
    List<Group> groups =
        Placement.of(available(client, table), settings.shares(), settings.placement());
    client.sql().execute(null, Statements.createGroupTable(table)).close();
    for (Group group : groups) {
      client
          .sql()
          .execute(null, Statements.insertGroup(table), group.number(), group.node(), group.share())
          .close();
    }
  }

  /**
   * The groups of a table.
   *
   * @throws SettingException when it was made without
   */
  static KeyGroups read(IgniteClient client, String table) {
    String name = Statements.groupTable(table);
    Table kept = client.tables().table(QualifiedName.fromSimple(Identifier.quote(name)));
    if (kept == null) {
      throw new SettingException(
          "the table "
              + table
              + " has no groups; make it with the same "
              + IgniteSettings.SHARES.name()
              + ", by the step "
              + StoreBinding.CREATE_TABLE);
    }
    // What a statement reads is a snapshot; after a read of any key it has all that was done
    // before.
    kept.recordView().contains(null, Tuple.create().set(Identifier.quote(KeyGroups.COLUMN), 0));
    List<Group> groups = new ArrayList<>();
    try (ResultSet<SqlRow> rows = client.sql().execute(null, Statements.readGroups(table))) {
      rows.forEachRemaining(
          row -> groups.add(new Group(row.intValue(0), row.stringValue(1), row.doubleValue(2))));
    }
    return new KeyGroups(groups);
  }

  /** For each node a number for each partition that it has, the least whose rows come there. */
  private static SortedMap<String, List<Integer>> available(IgniteClient client, String name) {
    Table table = client.tables().table(QualifiedName.fromSimple(Identifier.quote(name)));
    PartitionManager partitions = table.partitionManager();
    Map<Partition, ClusterNode> nodes = partitions.primaryReplicasAsync().join();
    Set<Partition> left = new HashSet<>(nodes.keySet());
    SortedMap<String, List<Integer>> found = new TreeMap<>();
    // Also those that have none.
    client.cluster().nodes().forEach(node -> found.put(node.name(), new ArrayList<>()));
    for (int number = 0; !left.isEmpty(); number++) {
      Partition partition =
          partitions
              .partitionAsync(StoredRecord.key("").set(Identifier.quote(KeyGroups.COLUMN), number))
              .join();
      if (left.remove(partition)) {
        found.get(nodes.get(partition).name()).add(number);
      }
    }
    return found;
  }
}
