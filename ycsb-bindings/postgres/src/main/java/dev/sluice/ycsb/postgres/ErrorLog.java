package dev.sluice.ycsb.postgres;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Shows the first error of each kind; how many there are is in YCSB's counts of statuses. */
final class ErrorLog {
  private static final Set<String> SHOWN = ConcurrentHashMap.newKeySet();

  private ErrorLog() {}

  /**
   * Prints an error on the error stream unless one of its kind was printed before.
   *
   * @param kind SQLSTATE, or a status; null when the driver gave none
   */
  static void report(String kind, String message) {
    String name = kind == null ? "no SQLSTATE" : kind;
    if (SHOWN.add(name)) {
      System.err.println("postgres: " + name + ": " + message + " (further ones are only counted)");
    }
  }
}
