package dev.sluice.hbase.modules;

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
  private int number;

  public static void main(String[] names) throws ClassNotFoundException {
    Class<?> tests = Class.forName(names[0]);
    System.out.printf("%s.t ..%n", tests.getSimpleName());
    JUnitCore core = new JUnitCore();
    core.addListener(new TapRunner());
    boolean good = core.run(tests).wasSuccessful();
    System.out.flush();
    // Clusters leave threads behind.
    System.exit(good ? 0 : 1);
  }

  @Override
  public void testFailure(Failure failure) {
    System.out.println(failure.getTrace().indent(2).stripTrailing());
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
    System.out.printf("%s %d - %s%s%n", outcome, number, name, directive);
  }
}
