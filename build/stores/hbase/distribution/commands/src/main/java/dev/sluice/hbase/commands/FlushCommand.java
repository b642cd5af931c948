package dev.sluice.hbase.commands;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.util.Bytes;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(name = "flush", header = "Write a table's memory to store files; returns when it is done.")
final class FlushCommand extends ClusterCommand {
  @Parameters(paramLabel = "TABLE", description = "The table.")
  private String name;

  @Option(
      names = {"-f", "--family"},
      paramLabel = "FAMILY",
      description = "Only this one (default: all). May be given more than once.")
  private List<String> families = new ArrayList<>();

  @Override
  Answer ask(Connection connection) throws IOException {
    try (Admin admin = connection.getAdmin()) {
      if (families.isEmpty()) {
        admin.flush(table(name));
      } else {
        admin.flush(table(name), families.stream().map(Bytes::toBytes).toList());
      }
    }
    return Answer.done("flushed", "table", name);
  }
}
