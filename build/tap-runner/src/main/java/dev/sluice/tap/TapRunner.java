package dev.sluice.tap;

import java.io.PrintStream;
import java.util.HashMap;
import java.util.Map;
import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;

/**
 * Runs one JUnit class and prints its results in the Test Anything Protocol. The status is 1 if a
 * test failed.
 */
public final class TapRunner extends RunListener {
  private final Map<Description, String> outcomes = new HashMap<>();
  private final PrintStream output;
  private int number;

  TapRunner(PrintStream output) {
    this.output = output;
  }

  public static void main(String[] names) throws ClassNotFoundException {
    Class<?> tests = Class.forName(names[0]);
    TapRunner runner = new TapRunner(System.out);
    runner.line(tests.getSimpleName() + ".t ..");
    JUnitCore core = new JUnitCore();
    core.addListener(runner);
    boolean good = core.run(tests).wasSuccessful();
    System.out.flush();
    // Clusters leave threads behind.
    System.exit(good ? 0 : 1);
  }

  @Override
  public void testFailure(Failure failure) {
    line(failure.getTrace().indent(2).stripTrailing());
    Description description = failure.getDescription();
    if (description.isTest()) {
      outcomes.put(description, "not ok");
    } else {
      say("not ok", "the class as a whole", "");
    }
  }

  @Override
  public void testAssumptionFailure(Failure failure) {
    outcomes.put(failure.getDescription(), "skip");
  }

  @Override
  public void testIgnored(Description description) {
    say("ok", name(description), " # skip");
  }

  @Override
  public void testFinished(Description description) {
    String outcome = outcomes.getOrDefault(description, "ok");
    boolean skipped = outcome.equals("skip");
    say(skipped ? "ok" : outcome, name(description), skipped ? " # skip" : "");
  }

  private static String name(Description description) {
    String method = description.getMethodName();
    return method == null ? description.getDisplayName() : method;
  }

  private void say(String outcome, String name, String directive) {
    number++;
    line(String.format("%s %d - %s%s", outcome, number, name, directive));
  }

  /** In one piece, and not after what another thread has begun: they log to the same place. */
  private void line(String text) {
    output.print("\n" + text + "\n");
  }
}
