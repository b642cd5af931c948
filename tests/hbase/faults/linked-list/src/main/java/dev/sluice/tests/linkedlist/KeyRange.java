package dev.sluice.tests.linkedlist;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A part of all keys.
 *
 * @param start the first key, empty for the beginning
 * @param stop the first key behind it, empty for the end
 */
record KeyRange(byte[] start, byte[] stop) {
  private static final byte[] OPEN = {};

  /** All keys, in parts of about the same size. */
  static List<KeyRange> all(int parts) {
    return IntStream.range(0, parts)
        .mapToObj(part -> new KeyRange(bound(part, parts), bound(part + 1, parts)))
        .toList();
  }

  private static byte[] bound(int part, int parts) {
    if (part == 0 || part == parts) {
      return OPEN;
    }
    long share = Long.divideUnsigned(-1L, parts) * part;
    return ByteBuffer.allocate(Long.BYTES).putLong(share).array();
  }
}
