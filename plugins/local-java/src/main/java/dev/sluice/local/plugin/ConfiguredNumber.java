package dev.sluice.local.plugin;

import java.util.OptionalDouble;

/** A number of a store's configuration. */
public final class ConfiguredNumber {
  // Java would read 1d as one, and 0x1p3 as eight.
  private static final String FORM = "([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?";

  private ConfiguredNumber() {}

  /** Reads one within bounds; empty if the text is none. */
  public static OptionalDouble parse(String text, double least, double most) {
    String stripped = text.strip();
    if (!stripped.matches(FORM)) {
      return OptionalDouble.empty();
    }
    double number = Double.parseDouble(stripped);
    boolean isWithin = number >= least && number <= most;
    return isWithin ? OptionalDouble.of(number) : OptionalDouble.empty();
  }
}
