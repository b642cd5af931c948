package dev.sluice.hbase.commands;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Rows, qualifiers and values as text, in the notation of HBase's shell: printable ASCII as it is,
 * every other byte, and the backslash, as {@code \xHH}. What is parsed may also have other
 * characters, which stand for their UTF-8.
 */
final class BinaryText {
  private static final int ESCAPE_LENGTH = 4;

  private BinaryText() {}

  static String format(byte[] bytes) {
    return Bytes.toStringBinary(bytes);
  }

  static String format(byte[] bytes, int offset, int length) {
    return Bytes.toStringBinary(bytes, offset, length);
  }

  /**
   * The bytes that the text stands for.
   *
   * @throws CommandFailure for a backslash that does not begin such a notation
   */
  static byte[] parse(String text) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream(text.length());
    int at = 0;
    while (at < text.length()) {
      int escape = text.indexOf('\\', at);
      int plainEnd = escape < 0 ? text.length() : escape;
      bytes.writeBytes(text.substring(at, plainEnd).getBytes(StandardCharsets.UTF_8));
      at = plainEnd;
      if (escape >= 0) {
        bytes.write(escaped(text, escape));
        at += ESCAPE_LENGTH;
      }
    }
    return bytes.toByteArray();
  }

  private static int escaped(String text, int start) {
    if (start + ESCAPE_LENGTH <= text.length() && text.charAt(start + 1) == 'x') {
      int high = Character.digit(text.charAt(start + 2), 16);
      int low = Character.digit(text.charAt(start + 3), 16);
      if (high >= 0 && low >= 0) {
        return high << 4 | low;
      }
    }
    throw new CommandFailure(
        "'" + text + "' has a backslash that begins no \\xHH at character " + (start + 1),
        "write a byte as \\x00 to \\xFF, and the backslash itself as \\x5C");
  }
}
