package dev.sluice.ycsb.postgres;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.StringByteIterator;

/** Values of fields, which the server keeps as text: UTF-8 without the character 0. */
final class FieldValue {
  private FieldValue() {}

  /**
   * The text to store.
   *
   * @throws CharacterCodingException when the bytes are not UTF-8 or hold the character 0; they are
   *     refused because they could not be read back as they were
   */
  static String text(ByteIterator value) throws CharacterCodingException {
    // Its bytes are the low halves of its characters; its text is whole.
    String text =
        value instanceof StringByteIterator
            ? value.toString()
            : StandardCharsets.UTF_8
                .newDecoder()
                .decode(ByteBuffer.wrap(value.toArray()))
                .toString();
    if (text.indexOf('\0') >= 0) {
      throw new CharacterCodingException();
    }
    return text;
  }

  /** What a stored text is for YCSB. */
  static ByteIterator of(String text) {
    return new ByteArrayByteIterator(text.getBytes(StandardCharsets.UTF_8));
  }
}
