package dev.sluice.hbase.commands;

import java.io.IOException;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.BalanceRequest;
import org.apache.hadoop.hbase.client.BalanceResponse;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "balance",
    header = "Let the balancer run now.",
    description =
        "It does not run while it is off or regions are in transition; the answer says so.")
final class BalanceCommand extends ClusterCommand {
  @Option(names = "--dry-run", description = "Only compute the moves.")
  private boolean dryRun;

  @Override
  Answer ask(Connection connection) throws IOException {
    BalanceResponse response;
    try (Admin admin = connection.getAdmin()) {
      response = admin.balance(BalanceRequest.newBuilder().setDryRun(dryRun).build());
    }
    JsonObject json = new JsonObject();
    json.addProperty("ran", response.isBalancerRan());
    json.addProperty("moves_calculated", response.getMovesCalculated());
    json.addProperty("moves_executed", response.getMovesExecuted());
    String text =
        response.isBalancerRan()
            ? "ran: "
                + response.getMovesCalculated()
                + " moves, of which executed: "
                + response.getMovesExecuted()
            : "did not run";
    return new Answer(json, text);
  }
}
