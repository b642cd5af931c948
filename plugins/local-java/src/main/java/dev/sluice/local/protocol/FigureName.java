package dev.sluice.local.protocol;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * Names of figures about a part of a store, such as a scope or a volume. They may have lower case
 * letters, digits and underscores alone, so every other byte of the part's name becomes an
 * underscore and its two hexadecimal digits: the figures of orders/hot begin with
 * cache_orders_2fhot.
 */
public final class FigureName {
  // With the prefix and the longest suffix within the 128 characters of the protocol.
  private static final int MAX_PART_CHARACTERS = 100;
  private static final int KEPT_CHARACTERS = 80;

  private FigureName() {}

  /**
   * A name that no other part has.
   *
   * @param prefix what sort of part it is
   * @param suffix what the figure counts, and its unit
   */
  public static String of(String prefix, String part, String suffix) {
    return prefix + "_" + shortened(encoded(part), part) + "_" + suffix;
  }

  private static String encoded(String text) {
    StringBuilder encoded = new StringBuilder();
    for (byte each : text.getBytes(StandardCharsets.UTF_8)) {
      if (each >= 'a' && each <= 'z' || each >= '0' && each <= '9') {
        encoded.append((char) each);
      } else {
        encoded.append('_').append(HexFormat.of().toHexDigits(each));
      }
    }
    return encoded.toString();
  }

  /** Two underscores in a row are in no other name. */
  private static String shortened(String encoded, String part) {
    if (encoded.length() <= MAX_PART_CHARACTERS) {
      return encoded;
    }
    return encoded.substring(0, KEPT_CHARACTERS) + "__" + digest(part);
  }

  private static String digest(String text) {
    try {
      byte[] sum =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().toHexDigits(ByteBuffer.wrap(sum).getLong());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}
