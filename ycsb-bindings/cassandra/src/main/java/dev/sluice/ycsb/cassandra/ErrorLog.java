package dev.sluice.ycsb.cassandra;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Shows the first error of each kind; how many there are is in YCSB's counts of statuses. */
final class ErrorLog {
  private static final Set<String> SHOWN = ConcurrentHashMap.newKeySet();

  private ErrorLog() {}

  /** Prints an error on the error stream unless one of its class was printed before. */
  static void report(Throwable error) {
    String kind = error.getClass().getSimpleName();
    if (SHOWN.add(kind)) {
      System.err.println(
          "cassandra: " + kind + ": " + error.getMessage() + " (further ones are only counted)");
    }
  }
}
