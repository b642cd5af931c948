package dev.sluice.ycsb.ignite;

import dev.sluice.ycsb.Identifier;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import org.apache.ignite.table.Tuple;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.StringByteIterator;

/** A record as a row: the key as text, each field as the bytes that it is. */
final class StoredRecord {
  /** The column of the key. */
  static final String KEY = "ycsb_key";

  private static final String KEY_COLUMN = Identifier.quote(KEY);

  private StoredRecord() {}

  /** The row's key alone, by which it is found. */
  static Tuple key(String key) {
    return Tuple.create().set(KEY_COLUMN, key);
  }

  /** The whole row. */
  static Tuple row(String key, Map<String, ByteIterator> values) {
    Tuple row = key(key);
    values.forEach((field, value) -> row.set(Identifier.quote(field), bytes(value)));
    return row;
  }

  /** The bytes to store. */
  static byte[] bytes(ByteIterator value) {
    // Its bytes are the low halves of its characters; its text is whole.
    return value instanceof StringByteIterator
        ? value.toString().getBytes(StandardCharsets.UTF_8)
        : value.toArray();
  }

  /**
   * Gives YCSB the fields that it asks for. A column that is NULL is a field that the record does
   * not have.
   *
   * @param wanted null for all
   */
  static void copy(Tuple row, Set<String> wanted, Map<String, ByteIterator> result) {
    for (int column = 0; column < row.columnCount(); column++) {
      String name = Identifier.unquote(row.columnName(column));
      boolean isWanted = wanted == null ? !name.equals(KEY) : wanted.contains(name);
      if (isWanted && row.value(column) instanceof byte[] bytes) {
        result.put(name, new ByteArrayByteIterator(bytes));
      }
    }
  }
}
