package dev.sluice.hbase.commands;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
    name = "compaction-switch",
    header = "Switch compactions of region servers on or off, until they restart.",
    description = "Off interrupts what runs; its work is lost. The answer is what was before.")
final class CompactionSwitchCommand extends ClusterCommand {
  @Parameters(index = "0", paramLabel = "on|off", description = "The new state.")
  private Switch to;

  @Parameters(
      index = "1..*",
      arity = "0..*",
      paramLabel = "SERVER",
      description = "HOST, HOST:PORT or HOST,PORT,STARTCODE (default: all).")
  private List<String> servers = new ArrayList<>();

  @Override
  Answer ask(Connection connection) throws IOException {
    Rows rows = new Rows("server", "was_on");
    try (Admin admin = connection.getAdmin()) {
      List<String> names = new ArrayList<>();
      for (String server : servers) {
        names.add(Servers.find(admin, server).toString());
      }
      Map<ServerName, Boolean> before = admin.compactionSwitch(to == Switch.on, names);
      new TreeMap<>(before).forEach((server, on) -> rows.add(server.toString(), on));
    }
    return rows.toAnswer();
  }
}
