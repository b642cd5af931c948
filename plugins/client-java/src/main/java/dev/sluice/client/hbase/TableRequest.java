package dev.sluice.client.hbase;

import dev.sluice.client.Operation;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.client.Scan;

/**
 * What a call of a table asks for, and of which part: TABLE/FAMILY where one family is named, else
 * TABLE.
 */
record TableRequest(Operation operation, String scope) {
  /** Calls that begin to read, and are not over when they have read. */
  private static final Set<String> STREAMS = Set.of("getScanner", "scan");

  private static final String INCREMENT_COLUMN = "incrementColumnValue";

  /** Empty for calls that are no request, or no single one. */
  static Optional<TableRequest> of(TableName table, Method method, Object[] arguments) {
    if (arguments == null || STREAMS.contains(method.getName())) {
      return Optional.empty();
    }
    if (method.getName().equals(INCREMENT_COLUMN)) {
      Set<String> family = Set.of(name((byte[]) arguments[1]));
      return Optional.of(of(table, Operation.WRITE, family));
    }
    if (arguments[0] instanceof Scan scan) {
      return Optional.of(of(table, Operation.READ, names(scan.getFamilyMap().keySet())));
    }
    return ofRows(table, rows(arguments[0]));
  }

  private static List<Row> rows(Object argument) {
    Collection<?> all = argument instanceof Collection<?> several ? several : List.of(argument);
    List<Row> rows = new ArrayList<>();
    for (Object each : all) {
      if (!(each instanceof Row row)) {
        return List.of();
      }
      rows.add(row);
    }
    return rows;
  }

  /** One row that is written makes it a write. */
  private static Optional<TableRequest> ofRows(TableName table, List<Row> rows) {
    if (rows.isEmpty()) {
      return Optional.empty();
    }
    boolean isRead = rows.stream().allMatch(Get.class::isInstance);
    Set<String> families = new HashSet<>();
    for (Row row : rows) {
      Set<String> named = families(row);
      if (named.isEmpty()) {
        // All of them.
        return Optional.of(of(table, isRead ? Operation.READ : Operation.WRITE, Set.of()));
      }
      families.addAll(named);
    }
    return Optional.of(of(table, isRead ? Operation.READ : Operation.WRITE, families));
  }

  private static TableRequest of(TableName table, Operation operation, Set<String> families) {
    String name = table.getNameAsString();
    return new TableRequest(
        operation, families.size() == 1 ? name + "/" + families.iterator().next() : name);
  }

  private static Set<String> families(Row row) {
    if (row instanceof Get get) {
      return names(get.getFamilyMap().keySet());
    }
    if (row instanceof Mutation mutation) {
      return names(mutation.getFamilyCellMap().keySet());
    }
    if (row instanceof CheckAndMutate check) {
      return families(check.getAction());
    }
    Set<String> families = new HashSet<>();
    if (row instanceof RowMutations mutations) {
      mutations.getMutations().forEach(each -> families.addAll(families(each)));
    }
    return families;
  }

  private static Set<String> names(Set<byte[]> families) {
    Set<String> names = new HashSet<>();
    families.forEach(family -> names.add(name(family)));
    return names;
  }

  private static String name(byte[] family) {
    return new String(family, StandardCharsets.UTF_8);
  }
}
