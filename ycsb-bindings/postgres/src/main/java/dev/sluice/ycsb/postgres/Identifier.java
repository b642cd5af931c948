package dev.sluice.ycsb.postgres;

import dev.sluice.ycsb.SettingException;
import java.util.regex.Pattern;

/** Names of tables and columns, which no statement can take as a parameter. */
final class Identifier {
  /** PostgreSQL cuts longer names off silently (NAMEDATALEN - 1). */
  private static final int LONGEST = 63;

  private static final Pattern SAFE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

  private Identifier() {}

  /**
   * The name in double quotes, for use in a statement.
   *
   * @throws SettingException when it holds anything but ASCII letters, digits and underscores, or
   *     is longer than 63 characters
   */
  static String quote(String name) {
    if (name.length() > LONGEST || !SAFE.matcher(name).matches()) {
      throw new SettingException(
          "'"
              + name
              + "' is not accepted as the name of a table or field; use ASCII letters,"
              + " digits and underscores, not a digit first, at most "
              + LONGEST
              + " characters");
    }
    return '"' + name + '"';
  }
}
