package dev.sluice.ycsb;

import java.util.HashMap;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import site.ycsb.Client;

/** Works on a loaded table, at full speed, at a constant rate or on a schedule of rates. */
@Command(
    name = "run",
    header = "Work on a loaded table.",
    description = {
      "",
      "Ends after operationcount operations or maxexecutiontime seconds, whichever is first. With"
          + " a target rate every operation has a due time, and the latencies called Intended count"
          + " from it: they hold what a user waits when the store falls behind.",
      ""
    },
    footer = {
      "",
      "Example: 60 seconds at 250 operations per second, 10 seconds at 1500, and again:",
      "  sluice-ycsb run postgres -P a.properties -P profiles/small.properties \\",
      "    -P /etc/sluice/ycsb/postgres.properties --threads 10 --schedule 60s:250,10s:1500 \\",
      "    -s --results results/burst-1"
    })
final class RunCommand extends WorkloadCommand {
  @Option(
      names = "--target",
      paramLabel = "N",
      description = "operations per second over all threads; property target; 0 = full speed")
  private String target;

  @Option(
      names = "--schedule",
      paramLabel = "PHASES",
      description =
          "SECONDSs:OPERATIONS_PER_SECOND,... repeated to the end of the run; property "
              + WorkloadProperties.TARGET_SCHEDULE)
  private String schedule;

  RunCommand() {
    super(Phase.RUN);
  }

  @Override
  Map<String, String> options() {
    Map<String, String> options = new HashMap<>();
    options.put(Client.TARGET_PROPERTY, target);
    options.put(WorkloadProperties.TARGET_SCHEDULE, schedule);
    return options;
  }
}
