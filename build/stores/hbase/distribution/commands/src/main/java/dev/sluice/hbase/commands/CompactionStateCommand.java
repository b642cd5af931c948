package dev.sluice.hbase.commands;

import java.io.IOException;
import java.util.Locale;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
    name = "compaction-state",
    header = "Print whether a table is being compacted.",
    description = "none, minor, major or major_and_minor; queued ones count as well.")
final class CompactionStateCommand extends ClusterCommand {
  @Parameters(paramLabel = "TABLE", description = "The table.")
  private String name;

  @Override
  Answer ask(Connection connection) throws IOException {
    String state;
    try (Admin admin = connection.getAdmin()) {
      state = admin.getCompactionState(table(name)).name().toLowerCase(Locale.ROOT);
    }
    JsonObject json = new JsonObject();
    json.addProperty("table", name);
    json.addProperty("state", state);
    return new Answer(json, state);
  }
}
