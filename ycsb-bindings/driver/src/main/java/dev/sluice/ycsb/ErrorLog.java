package dev.sluice.ycsb;

import java.io.PrintStream;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Shows the first error of each kind of a store; how many there are is in YCSB's counts of
 * statuses.
 */
public final class ErrorLog {
  private final String store;
  private final PrintStream out;
  private final Set<String> shown = ConcurrentHashMap.newKeySet();

  /** That of a store, on the error stream. */
  public ErrorLog(String store) {
    this(store, System.err);
  }

  ErrorLog(String store, PrintStream out) {
    this.store = store;
    this.out = out;
  }

  /** Prints an error unless one of its class was printed before. */
  public void report(Throwable error) {
    report(error.getClass().getSimpleName(), error.getMessage());
  }

  /**
   * Prints an error unless one of its kind was printed before.
   *
   * @param kind the store's code of the error, or a status
   */
  public void report(String kind, String message) {
    if (shown.add(kind)) {
      out.println(store + ": " + kind + ": " + message + " (further ones are only counted)");
    }
  }
}
