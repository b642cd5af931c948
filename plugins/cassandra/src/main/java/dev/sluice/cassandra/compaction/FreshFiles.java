package dev.sluice.cassandra.compaction;

import dev.sluice.cassandra.Tables;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.protocol.Snapshot;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.io.sstable.SSTableId;
import org.apache.cassandra.io.sstable.format.SSTableReader;
import org.apache.cassandra.notifications.INotification;
import org.apache.cassandra.notifications.INotificationConsumer;
import org.apache.cassandra.notifications.SSTableAddedNotification;
import org.apache.cassandra.schema.TableId;

/**
 * The files that no compaction has taken yet: those that came by a flush or by streaming since the
 * node has started. They are a table's debt. Cassandra's own number of pending tasks stands still
 * while a table's compactions are put off, and has no bytes.
 */
final class FreshFiles {
  /**
   * What a table has of them.
   *
   * @param bytes on disk
   */
  record Debt(Scope scope, long bytes, int files) {}

  private final Map<TableId, Followed> tables = new ConcurrentHashMap<>();
  private volatile List<Debt> debts = List.of();

  /** Hears of the files of one table; the node calls it from the threads that add them. */
  private static final class Followed implements INotificationConsumer {
    private final Set<SSTableId> fresh = ConcurrentHashMap.newKeySet();

    @Override
    public void handleNotification(INotification notification, Object sender) {
      if (notification instanceof SSTableAddedNotification added) {
        added.added.forEach(file -> fresh.add(file.descriptor.id));
      }
    }

    /** Counts those that are live, and forgets those that are gone. */
    Debt look(ColumnFamilyStore table) {
      // One that is told of meanwhile may not be live yet.
      Set<SSTableId> known = new HashSet<>(fresh);
      long bytes = 0;
      int files = 0;
      for (SSTableReader file :
          known.isEmpty() ? Set.<SSTableReader>of() : table.getLiveSSTables()) {
        if (known.remove(file.descriptor.id)) {
          bytes += file.onDiskLength();
          files++;
        }
      }
      fresh.removeAll(known);
      return new Debt(Tables.scopeOf(table), bytes, files);
    }
  }

  /** Looks at all tables, and follows those that are new. */
  void look() {
    List<ColumnFamilyStore> now = Tables.all();
    tables.keySet().retainAll(now.stream().map(table -> table.metadata.id).toList());
    debts = now.stream().map(this::look).toList();
  }

  private Debt look(ColumnFamilyStore table) {
    Followed followed = tables.computeIfAbsent(table.metadata.id, id -> new Followed());
    if (!table.getTracker().contains(followed)) {
      table.getTracker().subscribe(followed);
    }
    return followed.look(table);
  }

  /** As the last look has seen them. */
  List<Debt> all() {
    return debts;
  }

  /** Bytes of all tables in a scope. */
  long bytes(Scope scope) {
    return debts.stream().filter(debt -> scope.contains(debt.scope())).mapToLong(Debt::bytes).sum();
  }

  void report(Snapshot.Builder snapshot) {
    for (Debt debt : debts) {
      snapshot.debt(
          new Snapshot.Debt(
              CompactionPart.KIND, debt.scope().text(), debt.bytes(), 0, 0, debt.files()));
    }
  }
}
