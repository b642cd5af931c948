package dev.sluice.ycsb.ignite;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Shows the first error of each kind; how many there are is in YCSB's counts of statuses. */
final class ErrorLog {
  private static final Set<String> SHOWN = ConcurrentHashMap.newKeySet();

  private ErrorLog() {}

  /**
   * Prints an error on the error stream unless one of its kind was printed before.
   *
   * @param kind Ignite's code of the error, or a status
   */
  static void report(String kind, String message) {
    if (SHOWN.add(kind)) {
      System.err.println("ignite: " + kind + ": " + message + " (further ones are only counted)");
    }
  }
}
