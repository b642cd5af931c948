package dev.sluice.ycsb.cassandra;

import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.type.DataTypes;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.StringByteIterator;

/** A record as a row: the key as text, each field as the bytes that it is. */
final class StoredRecord {
  private StoredRecord() {}

  /** The bytes to store. */
  static ByteBuffer bytes(ByteIterator value) {
    // Its bytes are the low halves of its characters; its text is whole.
    return ByteBuffer.wrap(
        value instanceof StringByteIterator
            ? value.toString().getBytes(StandardCharsets.UTF_8)
            : value.toArray());
  }

  /** Gives YCSB the fields of a row. A column without a value is a field that is not there. */
  static void copy(Row row, Map<String, ByteIterator> result) {
    row.getColumnDefinitions()
        .forEach(
            column -> {
              String name = column.getName().asInternal();
              ByteBuffer value = row.getBytesUnsafe(column.getName());
              if (column.getType().equals(DataTypes.BLOB) && value != null) {
                byte[] bytes = new byte[value.remaining()];
                value.get(bytes);
                result.put(name, new ByteArrayByteIterator(bytes));
              }
            });
  }
}
