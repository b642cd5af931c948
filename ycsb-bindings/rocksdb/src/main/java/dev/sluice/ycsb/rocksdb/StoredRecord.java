package dev.sluice.ycsb.rocksdb;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.StringByteIterator;

/**
 * The fields of a record in one value of the store: of each the length and the bytes of its name,
 * then of its content.
 */
final class StoredRecord {
  private StoredRecord() {}

  /** The value to store. */
  static byte[] encode(Map<String, byte[]> fields) {
    ByteArrayOutputStream value = new ByteArrayOutputStream();
    fields.forEach(
        (name, content) -> {
          append(value, name.getBytes(StandardCharsets.UTF_8));
          append(value, content);
        });
    return value.toByteArray();
  }

  /** All fields of a stored value. */
  static Map<String, byte[]> decode(byte[] value) {
    Map<String, byte[]> fields = new HashMap<>();
    ByteBuffer rest = ByteBuffer.wrap(value);
    while (rest.hasRemaining()) {
      String name = new String(take(rest), StandardCharsets.UTF_8);
      fields.put(name, take(rest));
    }
    return fields;
  }

  /**
   * Gives YCSB the fields that it asks for.
   *
   * @param wanted null for all
   */
  static void copy(byte[] value, Set<String> wanted, Map<String, ByteIterator> row) {
    decode(value)
        .forEach(
            (name, content) -> {
              if (wanted == null || wanted.contains(name)) {
                row.put(name, new ByteArrayByteIterator(content));
              }
            });
  }

  /** What YCSB gives, as bytes. */
  static Map<String, byte[]> fields(Map<String, ByteIterator> values) {
    Map<String, byte[]> fields = new HashMap<>();
    values.forEach((name, value) -> fields.put(name, bytes(value)));
    return fields;
  }

  private static byte[] bytes(ByteIterator value) {
    // Its bytes are the low halves of its characters; its text is whole.
    return value instanceof StringByteIterator
        ? value.toString().getBytes(StandardCharsets.UTF_8)
        : value.toArray();
  }

  private static void append(ByteArrayOutputStream value, byte[] part) {
    value.writeBytes(ByteBuffer.allocate(Integer.BYTES).putInt(part.length).array());
    value.writeBytes(part);
  }

  private static byte[] take(ByteBuffer rest) {
    byte[] part = new byte[rest.getInt()];
    rest.get(part);
    return part;
  }
}
