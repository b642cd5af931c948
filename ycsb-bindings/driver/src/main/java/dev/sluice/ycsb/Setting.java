package dev.sluice.ycsb;

/**
 * A property that a binding reads.
 *
 * @param name full name of the property, such as {@code postgres.url}
 * @param defaultValue what holds when it is absent; empty if it must be set or has no value
 * @param summary one line for the help, with the unit
 * @param secret true when the value must not reach a record or a log
 */
public record Setting(String name, String defaultValue, String summary, boolean secret) {

  /** A setting whose value may be shown. */
  public static Setting of(String name, String defaultValue, String summary) {
    return new Setting(name, defaultValue, summary, false);
  }

  /** A setting whose value may not be shown. */
  public static Setting secret(String name, String summary) {
    return new Setting(name, "", summary, true);
  }
}
