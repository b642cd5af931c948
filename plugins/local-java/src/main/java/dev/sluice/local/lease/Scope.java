package dev.sluice.local.lease;

import java.util.List;
import java.util.Optional;

/**
 * A part of a server: all of it, a table, or a family of a table.
 *
 * @param table name as in {@code TableName.getNameAsString()}; empty for all of the server
 * @param family empty for all of the table
 */
public record Scope(String table, String family) {
  /** All of the server. */
  public static final Scope SERVER = new Scope("", "");

  // No name of a table, namespace or family may contain it.
  private static final char SEPARATOR = '/';

  public static Scope ofTable(String table) {
    return new Scope(table, "");
  }

  /** Reads "", "table", "namespace:table" or either with "/family"; empty if it can be none. */
  public static Optional<Scope> parse(String text) {
    if (text.isEmpty()) {
      return Optional.of(SERVER);
    }
    int separator = text.indexOf(SEPARATOR);
    if (separator < 0) {
      return Optional.of(ofTable(text));
    }
    String family = text.substring(separator + 1);
    if (separator == 0 || family.isEmpty() || family.indexOf(SEPARATOR) >= 0) {
      return Optional.empty();
    }
    return Optional.of(new Scope(text.substring(0, separator), family));
  }

  public String text() {
    return family.isEmpty() ? table : table + SEPARATOR + family;
  }

  /** This scope and those that contain it, the narrowest first. */
  public List<Scope> widening() {
    if (!family.isEmpty()) {
      return List.of(this, ofTable(table), SERVER);
    }
    return table.isEmpty() ? List.of(SERVER) : List.of(this, SERVER);
  }

  /** Whether the other scope is this one or a part of it. */
  public boolean contains(Scope other) {
    if (table.isEmpty()) {
      return true;
    }
    return table.equals(other.table) && (family.isEmpty() || family.equals(other.family));
  }
}
