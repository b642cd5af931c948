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
  private static final int MAX_CHARACTERS = 128;
  // Two underscores and half a digest.
  private static final int DIGEST_CHARACTERS = 18;

  private FigureName() {}

  /**
   * A name that no other part has. A part that is too long for the protocol is cut.
   *
   * @param prefix what sort of part it is
   * @param suffix what the figure counts, and its unit
   */
  public static String of(String prefix, String part, String suffix) {
    int room = MAX_CHARACTERS - prefix.length() - suffix.length() - 2;
    return prefix + "_" + shortened(encoded(part), part, room) + "_" + suffix;
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
  private static String shortened(String encoded, String part, int room) {
    if (encoded.length() <= room) {
      return encoded;
    }
    return encoded.substring(0, room - DIGEST_CHARACTERS) + "__" + digest(part);
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
