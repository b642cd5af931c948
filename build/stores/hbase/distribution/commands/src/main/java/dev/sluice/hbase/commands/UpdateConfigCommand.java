package dev.sluice.hbase.commands;

import java.io.IOException;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
    name = "update-config",
    header = "Let servers read their hbase-site.xml again.",
    description =
        "Only some settings can change while a server runs; the others wait for a restart.")
final class UpdateConfigCommand extends ClusterCommand {
  @Parameters(
      arity = "0..1",
      paramLabel = "SERVER",
      description = "A region server (default: all, and the masters).")
  private String server;

  @Override
  Answer ask(Connection connection) throws IOException {
    try (Admin admin = connection.getAdmin()) {
      if (server == null) {
        admin.updateConfiguration();
      } else {
        admin.updateConfiguration(Servers.find(admin, server));
      }
    }
    return Answer.done("updated", "configuration", server == null ? "of all servers" : server);
  }
}
