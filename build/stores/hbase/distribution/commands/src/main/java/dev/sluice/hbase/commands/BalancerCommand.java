package dev.sluice.hbase.commands;

import java.io.IOException;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
    name = "balancer",
    header = "Print whether the balancer is on, and switch it.",
    description =
        "With on or off it prints what was before, and waits for a run that is under way.")
final class BalancerCommand extends ClusterCommand {
  @Parameters(arity = "0..1", paramLabel = "on|off", description = "The new state.")
  private Switch to;

  @Override
  Answer ask(Connection connection) throws IOException {
    boolean before;
    try (Admin admin = connection.getAdmin()) {
      before = to == null ? admin.isBalancerEnabled() : admin.balancerSwitch(to == Switch.on, true);
    }
    JsonObject json = new JsonObject();
    json.addProperty(to == null ? "on" : "was_on", before);
    return new Answer(json, word(before));
  }

  static String word(boolean on) {
    return on ? "on" : "off";
  }
}
