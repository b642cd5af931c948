package dev.sluice.local.plugin;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Calls of parts of a plug-in: one that fails takes neither the others nor the store along. */
public final class Guarded {
  private static final Logger LOG = LoggerFactory.getLogger(Guarded.class);
  private static final Repetitions REPETITIONS = new Repetitions(System::nanoTime);

  private Guarded() {}

  /**
   * Calls a part, and leaves it out this time where it fails: also for what this version of the
   * store does not have, which is not known before it is asked for. What fails at each call is an
   * error in the log once a minute.
   *
   * @param part names it in the log
   */
  public static void call(String part, Runnable action) {
    call(part, action, REPETITIONS, LOG);
  }

  static void call(String part, Runnable action, Repetitions repetitions, Logger log) {
    try {
      action.run();
    } catch (RuntimeException | LinkageError e) {
      if (repetitions.isDue(part + " " + e.getClass().getName())) {
        log.error("{} has failed", part, e);
      } else {
        log.debug("{} has failed again", part, e);
      }
    }
  }
}
