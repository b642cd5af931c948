package dev.sluice.ycsb;

import java.util.Map;
import picocli.CommandLine.Command;

/** Fills a prepared table with recordcount records, as fast as the store takes them. */
@Command(
    name = "load",
    header = "Insert recordcount records, as fast as the store takes them.",
    description = {
      "",
      "A target rate and maxexecutiontime do not hold for a load. A record that the store refuses"
          + " ends it.",
      ""
    },
    footer = {
      "",
      "Example:",
      "  sluice-ycsb load postgres -P a.properties -P profiles/smoke.properties \\",
      "    -p postgres.url=jdbc:postgresql://localhost/ycsb -p postgres.user=ycsb --threads 4"
    })
final class LoadCommand extends WorkloadCommand {
  LoadCommand() {
    super(Phase.LOAD);
  }

  @Override
  Map<String, String> options() {
    return Map.of();
  }
}
