package dev.sluice.ycsb.cassandra;

import dev.sluice.ycsb.SettingException;
import java.util.regex.Pattern;

/** Names of keyspaces, tables and columns, which no statement can take as a parameter. */
final class Identifier {
  private static final Pattern SAFE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

  private Identifier() {}

  /**
   * The name in double quotes, without which Cassandra would turn it into lower case.
   *
   * @throws SettingException when it holds anything but ASCII letters, digits and underscores
   */
  static String quote(String name) {
    if (!SAFE.matcher(name).matches()) {
      throw new SettingException(
          "'"
              + name
              + "' is not accepted as the name of a table or field; use ASCII letters,"
              + " digits and underscores, not a digit first");
    }
    return '"' + name + '"';
  }
}
