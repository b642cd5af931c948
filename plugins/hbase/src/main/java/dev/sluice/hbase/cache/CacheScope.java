package dev.sluice.hbase.cache;

import org.apache.hadoop.hbase.TableName;

/**
 * A table, or one family of it.
 *
 * @param family empty for the whole table
 */
public record CacheScope(TableName table, String family) {
  /** All families of a table. */
  public static CacheScope ofTable(TableName table) {
    return new CacheScope(table, "");
  }

  boolean isTable() {
    return family.isEmpty();
  }

  boolean covers(CacheScope other) {
    return table.equals(other.table) && (isTable() || family.equals(other.family));
  }

  @Override
  public String toString() {
    return isTable() ? table.getNameAsString() : table.getNameAsString() + "/" + family;
  }
}
