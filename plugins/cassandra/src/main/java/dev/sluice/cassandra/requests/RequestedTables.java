package dev.sluice.cassandra.requests;

import java.util.HashMap;
import java.util.Map;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.statements.BatchStatement;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.schema.TableMetadata;

/** Which tables a statement asks for rows of, and how often. */
final class RequestedTables {
  private RequestedTables() {}

  /** A read counts once, with its first page: who has begun to read goes on. */
  static Map<String, Integer> of(CQLStatement statement, QueryOptions options) {
    if (statement instanceof SelectStatement select) {
      return options.getPagingState() == null ? Map.of(nameOf(select.table), 1) : Map.of();
    }
    if (statement instanceof ModificationStatement change) {
      return Map.of(nameOf(change.metadata()), 1);
    }
    return statement instanceof BatchStatement batch ? of(batch) : Map.of();
  }

  /** Each statement of a batch counts. */
  static Map<String, Integer> of(BatchStatement batch) {
    Map<String, Integer> rows = new HashMap<>();
    for (ModificationStatement each : batch.getStatements()) {
      rows.merge(nameOf(each.metadata()), 1, Integer::sum);
    }
    return rows;
  }

  /** As scopes name it. */
  private static String nameOf(TableMetadata table) {
    return table.keyspace + "." + table.name;
  }
}
