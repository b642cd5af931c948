package dev.sluice.ycsb.hbase;

import java.nio.charset.StandardCharsets;
import site.ycsb.ByteIterator;
import site.ycsb.StringByteIterator;

/** Values of fields, which the server keeps as the bytes that they are. */
final class FieldValue {
  private FieldValue() {}

  /** The bytes to store. */
  static byte[] bytes(ByteIterator value) {
    // Its bytes are the low halves of its characters; its text is whole.
    return value instanceof StringByteIterator
        ? value.toString().getBytes(StandardCharsets.UTF_8)
        : value.toArray();
  }
}
