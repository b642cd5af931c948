package dev.sluice.hbase.master;

import dev.sluice.local.lease.Scope;
import dev.sluice.local.protocol.Refusal;
import java.io.IOException;
import java.util.Optional;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableState;
import org.apache.hadoop.hbase.master.MasterServices;
import org.apache.hadoop.hbase.util.Bytes;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The tables of a cluster, as its master knows them. */
final class Tables {
  private static final Logger LOG = LoggerFactory.getLogger(Tables.class);

  private final MasterServices services;

  Tables(MasterServices services) {
    this.services = services;
  }

  /** Whether there is such a table, and such a family in it. */
  boolean exists(Scope scope) {
    if (scope.table().isEmpty()) {
      return true;
    }
    Optional<TableDescriptor> table = find(scope);
    return table.isPresent()
        && (scope.family().isEmpty() || table.get().hasColumnFamily(Bytes.toBytes(scope.family())));
  }

  /** Only a table that has regions is looked for, so that a wrong name costs no access to files. */
  private Optional<TableDescriptor> find(Scope scope) {
    try {
      TableName name = TableName.valueOf(scope.table());
      return services.getAssignmentManager().getRegionStates().hasTableRegionStates(name)
          ? Optional.ofNullable(services.getTableDescriptors().get(name))
          : Optional.empty();
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    } catch (IOException e) {
      LOG.warn("the descriptor of {} cannot be read", scope.table(), e);
      return Optional.empty();
    }
  }

  /** Refuses to start what no region server would do. */
  void refuseIfNotCompacted(Scope scope) throws Refusal {
    Optional<TableDescriptor> table = find(scope);
    if (table.isEmpty()) {
      throw Refusal.notFound(
          "the table of \"" + scope.text() + "\" is gone", "It was there when it was ordered.");
    }
    if (!services
        .getTableStateManager()
        .isTableState(table.get().getTableName(), TableState.State.ENABLED)) {
      throw Refusal.refused("\"" + scope.table() + "\" is not enabled", "Enable the table first.");
    }
    if (!table.get().isCompactionEnabled()) {
      throw Refusal.refused(
          "compactions of \"" + scope.table() + "\" are switched off",
          "Alter its attribute COMPACTION_ENABLED.");
    }
  }

  /** Requests a compaction of each region, as an administrator's client does. */
  static void requestCompaction(Connection connection, Scope scope, boolean isMajor)
      throws IOException {
    TableName table = TableName.valueOf(scope.table());
    byte[] family = scope.family().isEmpty() ? null : Bytes.toBytes(scope.family());
    try (Admin admin = connection.getAdmin()) {
      if (isMajor) {
        admin.majorCompact(table, family);
      } else {
        admin.compact(table, family);
      }
    }
  }
}
