package dev.sluice.ycsb;

import java.io.PrintStream;
import picocli.CommandLine.Command;

/** Lists the stores with their settings and steps. */
@Command(name = "stores", header = "List the stores with their settings and prepare steps.")
final class StoresCommand implements Runnable {

  @Override
  public void run() {
    StoreBindings.all().forEach(binding -> print(binding, System.out));
  }

  private static void print(StoreBinding binding, PrintStream out) {
    out.printf("%s: %s%n  settings:%n", binding.name(), binding.summary());
    for (Setting setting : binding.settings()) {
      String value = setting.defaultValue().isEmpty() ? "" : " (" + setting.defaultValue() + ")";
      out.printf("    %-26s %s%s%n", setting.name(), setting.summary(), value);
    }
    out.printf("  prepare steps:%n");
    for (PrepareStep step : binding.prepareSteps()) {
      out.printf("    %-26s %s%n", step.name(), step.summary());
    }
  }
}
