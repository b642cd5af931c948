package dev.sluice.ycsb;

import java.util.regex.Pattern;

/** Names of tables and columns, which no statement of SQL or CQL can take as a parameter. */
public final class Identifier {
  private static final Pattern SAFE = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

  private Identifier() {}

  /**
   * The name in double quotes, without which stores would change its case.
   *
   * @throws SettingException when it holds anything but ASCII letters, digits and underscores
   */
  public static String quote(String name) {
    if (!SAFE.matcher(name).matches()) {
      throw new SettingException(
          "'"
              + name
              + "' is not accepted as the name of a table or field; use ASCII letters,"
              + " digits and underscores, not a digit first");
    }
    return '"' + name + '"';
  }

  /**
   * The same for a store that cuts longer names off.
   *
   * @param longest how many characters a name may have
   * @throws SettingException when it is longer, too
   */
  public static String quote(String name, int longest) {
    if (name.length() > longest) {
      throw new SettingException(
          "'"
              + name
              + "' is not accepted as the name of a table or field; use at most "
              + longest
              + " characters");
    }
    return quote(name);
  }

  /** The name in what {@link #quote(String)} gave; one without quotes stays as it is. */
  public static String unquote(String quoted) {
    return quoted.startsWith("\"") ? quoted.substring(1, quoted.length() - 1) : quoted;
  }
}
