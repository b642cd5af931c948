package dev.sluice.local.plugin;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Calls of parts of a plug-in: one that fails takes neither the others nor the store along. */
public final class Guarded {
  private static final Logger LOG = LoggerFactory.getLogger(Guarded.class);

  private Guarded() {}

  /**
   * Calls a part, and leaves it out this time where it fails: also for what this version of the
   * store does not have, which is not known before it is asked for.
   *
   * @param part names it in the log
   */
  public static void call(String part, Runnable action) {
    try {
      action.run();
    } catch (RuntimeException | LinkageError e) {
      LOG.error("{} has failed", part, e);
    }
  }
}
