package dev.sluice.cassandra.compaction;

import dev.sluice.cassandra.Tables;
import dev.sluice.local.lease.Aspect;
import dev.sluice.local.lease.Lease;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.schema.TableId;

/**
 * Puts off the compactions that the node would begin by itself, table by table: its automatic
 * compaction is off until the debt is there, or the order ends. What runs goes on. A table whose
 * automatic compaction somebody else has switched off is left alone.
 */
final class Deferrals {
  private final LeaseStore leases;
  private final FreshFiles files;
  private final RunningCompactions running;
  private final Map<TableId, AutomaticCompaction> switches = new HashMap<>();
  private final Set<TableId> due = new HashSet<>();

  Deferrals(LeaseStore leases, FreshFiles files, RunningCompactions running) {
    this.leases = leases;
    this.files = files;
    this.running = running;
  }

  /** Follows the orders and the debts. */
  synchronized void look() {
    Map<TableId, ColumnFamilyStore> now = new HashMap<>();
    Tables.all().forEach(table -> now.put(table.metadata.id, table));
    switches.keySet().retainAll(now.keySet());
    due.retainAll(now.keySet());
    now.values().forEach(this::look);
  }

  private void look(ColumnFamilyStore table) {
    Optional<Lease> order =
        leases.mostSpecific(CompactionPart.KIND, Aspect.DEFERRAL, Tables.scopeOf(table));
    if (order.isEmpty()) {
      due.remove(table.metadata.id);
      switchOn(table);
      return;
    }
    if (files.bytes(order.get().scope()) >= order.get().setting().number()) {
      due.add(table.metadata.id);
    } else if (hasCaughtUp(table)) {
      due.remove(table.metadata.id);
    }
    if (due.contains(table.metadata.id)) {
      switchOn(table);
    } else {
      switchOff(table);
    }
  }

  /** Whether what was due is done, so that the next is put off again. */
  private boolean hasCaughtUp(ColumnFamilyStore table) {
    boolean isPending = table.getCompactionStrategyManager().getEstimatedRemainingTasks() > 0;
    return !isPending && !running.isRunning(table.getKeyspaceName(), table.getTableName());
  }

  private void switchOff(ColumnFamilyStore table) {
    switchOf(table).switchOff(AutomaticCompaction.of(table));
  }

  private void switchOn(ColumnFamilyStore table) {
    switchOf(table).switchOn(AutomaticCompaction.of(table));
  }

  private AutomaticCompaction switchOf(ColumnFamilyStore table) {
    return switches.computeIfAbsent(table.metadata.id, id -> new AutomaticCompaction());
  }

  /** Has a table's compactions begin although they are put off. */
  synchronized void release(ColumnFamilyStore table) {
    if (switchOf(table).isOff()) {
      due.add(table.metadata.id);
      switchOn(table);
    }
  }

  /** The tables that it has switched off now. */
  synchronized List<Scope> scopes() {
    return Tables.all().stream()
        .filter(table -> switchOf(table).isOff())
        .map(Tables::scopeOf)
        .toList();
  }
}
