package dev.sluice.ycsb;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Does steps around a run, such as creating the table. */
@Command(
    name = "prepare",
    header = "Create, drop or settle the table of a store.",
    description = {"", "`sluice-ycsb stores` lists the steps of each store.", ""},
    footer = {
      "",
      "Example:",
      "  sluice-ycsb prepare postgres drop-table create-table \\",
      "    -P /etc/sluice/ycsb/postgres.properties"
    })
final class PrepareCommand implements Callable<Integer> {
  @Parameters(index = "0", paramLabel = "STORE", description = "the store")
  private String store;

  @Parameters(
      index = "1..*",
      arity = "1..*",
      paramLabel = "STEP",
      description = "what to do; several are done in the given order")
  private List<String> steps;

  @Option(names = "-P", paramLabel = "FILE", description = "a file of properties")
  private List<String> files = List.of();

  @Option(
      names = "-p",
      paramLabel = "NAME=VALUE",
      description = "one property; overrides all files")
  private Map<String, String> overrides = new LinkedHashMap<>();

  @Override
  public Integer call() throws Exception {
    StoreBinding binding = StoreBindings.named(store);
    Properties properties = WorkloadProperties.read(files, overrides);
    StoreBindings.checkNames(binding, properties);
    List<PrepareStep> chosen = steps.stream().map(name -> step(binding, name)).toList();
    for (PrepareStep step : chosen) {
      step.action().run(properties);
    }
    return 0;
  }

  private static PrepareStep step(StoreBinding binding, String name) {
    return binding.prepareSteps().stream()
        .filter(step -> step.name().equals(name))
        .findFirst()
        .orElseThrow(() -> new SettingException(unknown(binding, name)));
  }

  private static String unknown(StoreBinding binding, String name) {
    List<String> names = binding.prepareSteps().stream().map(PrepareStep::name).toList();
    return "no step '" + name + "' for " + binding.name() + "; use one of " + names;
  }
}
