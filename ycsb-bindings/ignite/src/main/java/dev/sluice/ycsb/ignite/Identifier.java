package dev.sluice.ycsb.ignite;

import dev.sluice.ycsb.SettingException;
import java.util.regex.Pattern;

/** Names of tables, zones and columns, which no statement can take as a parameter. */
final class Identifier {
  private static final Pattern SAFE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

  private Identifier() {}

  /**
   * The name in double quotes, without which Ignite would turn it into upper case.
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

  /** The name in what {@link #quote} gave, or Ignite gives in the same form. */
  static String unquote(String quoted) {
    return quoted.startsWith("\"") ? quoted.substring(1, quoted.length() - 1) : quoted;
  }
}
