package dev.sluice.hbase.commands;

import java.io.IOException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.util.Bytes;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "compact",
    header = "Ask for a compaction of a table; it goes on in the background.",
    description = "How it goes: hbase compaction-state TABLE.")
final class CompactCommand extends ClusterCommand {
  @Parameters(paramLabel = "TABLE", description = "The table.")
  private String name;

  @Option(
      names = {"-f", "--family"},
      paramLabel = "FAMILY",
      description = "Only this one (default: all).")
  private String family;

  @Option(
      names = "--major",
      description = "All store files into one; else what the policy selects.")
  private boolean major;

  @Override
  Answer ask(Connection connection) throws IOException {
    try (Admin admin = connection.getAdmin()) {
      request(admin, table(name));
    }
    return Answer.done(
        major ? "requested a major compaction of" : "requested a compaction of", "table", name);
  }

  private void request(Admin admin, TableName table) throws IOException {
    if (family == null) {
      if (major) {
        admin.majorCompact(table);
      } else {
        admin.compact(table);
      }
      return;
    }
    byte[] only = Bytes.toBytes(family);
    if (major) {
      admin.majorCompact(table, only);
    } else {
      admin.compact(table, only);
    }
  }
}
