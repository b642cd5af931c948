package dev.sluice.cassandra;

import dev.sluice.local.lease.Scope;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.schema.SchemaConstants;

/** The tables that orders may name: those of users, for the system needs its own. */
public final class Tables {
  private Tables() {}

  /** All of them, without their indexes. */
  public static List<ColumnFamilyStore> all() {
    List<ColumnFamilyStore> found = new ArrayList<>();
    for (ColumnFamilyStore table : ColumnFamilyStore.all()) {
      if (!SchemaConstants.isSystemKeyspace(table.getKeyspaceName()) && !table.isIndex()) {
        found.add(table);
      }
    }
    return found;
  }

  /** Those in a scope. */
  public static List<ColumnFamilyStore> in(Scope scope) {
    return all().stream().filter(table -> scope.contains(scopeOf(table))).toList();
  }

  /** The table of that scope, if it is one. */
  public static Optional<ColumnFamilyStore> find(Scope scope) {
    return all().stream().filter(table -> scopeOf(table).equals(scope)).findFirst();
  }

  /** KEYSPACE.TABLE: neither name may have a full stop. */
  public static Scope scopeOf(ColumnFamilyStore table) {
    return Scope.ofTable(table.getKeyspaceName() + "." + table.getTableName());
  }
}
