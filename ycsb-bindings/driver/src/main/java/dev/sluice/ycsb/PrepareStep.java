package dev.sluice.ycsb;

import java.util.Properties;

/**
 * Something to do to a store before or between runs, such as creating the table.
 *
 * @param name what the user types
 * @param summary one line for the help
 * @param action does it
 */
public record PrepareStep(String name, String summary, Action action) {

  /** The work of a step. */
  @FunctionalInterface
  public interface Action {
    /**
     * Does the step.
     *
     * @param properties the store's settings and YCSB's table, fieldcount and fieldnameprefix
     * @throws SettingException for a missing or wrong property
     * @throws Exception when the store refuses; the message says why
     */
    void run(Properties properties) throws Exception;
  }
}
