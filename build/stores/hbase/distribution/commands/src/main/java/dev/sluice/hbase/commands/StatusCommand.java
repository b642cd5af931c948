package dev.sluice.hbase.commands;

import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.hbase.ClusterMetrics;
import org.apache.hadoop.hbase.ServerMetrics;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.Size;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import picocli.CommandLine.Command;

@Command(
    name = "status",
    header = "Show masters, region servers and regions in transition.",
    description = "It ends with 0 whenever a master answers.")
final class StatusCommand extends ClusterCommand {

  @Override
  Answer ask(Connection connection) throws IOException {
    try (Admin admin = connection.getAdmin()) {
      ClusterMetrics metrics = admin.getClusterMetrics();
      Rows servers = servers(metrics);
      return new Answer(json(metrics, servers), text(metrics, servers));
    }
  }

  private static Rows servers(ClusterMetrics metrics) {
    Rows rows =
        new Rows(
            "server", "regions", "requests_per_second", "heap_used_bytes", "heap_maximum_bytes");
    Map<ServerName, ServerMetrics> sorted = new TreeMap<>(metrics.getLiveServerMetrics());
    sorted.forEach(
        (name, server) ->
            rows.add(
                name.toString(),
                server.getRegionMetrics().size(),
                server.getRequestCountPerSecond(),
                bytes(server.getUsedHeapSize()),
                bytes(server.getMaxHeapSize())));
    return rows;
  }

  private static JsonObject json(ClusterMetrics metrics, Rows servers) {
    JsonObject json = new JsonObject();
    json.addProperty("version", metrics.getHBaseVersion());
    json.addProperty("cluster_id", metrics.getClusterId());
    json.addProperty("active_master", String.valueOf(metrics.getMasterName()));
    json.add("backup_masters", names(metrics.getBackupMasterNames()));
    json.add("live_servers", servers.toJson());
    json.add("dead_servers", names(metrics.getDeadServerNames()));
    json.addProperty("regions", metrics.getRegionCount());
    json.addProperty("balancer_on", metrics.getBalancerOn());
    json.add("regions_in_transition", TransitionsCommand.rows(metrics).toJson());
    return json;
  }

  private static String text(ClusterMetrics metrics, Rows servers) {
    return String.join(
        System.lineSeparator(),
        "HBase " + metrics.getHBaseVersion() + ", cluster " + metrics.getClusterId(),
        "active master: " + metrics.getMasterName(),
        "backup masters: " + metrics.getBackupMasterNames(),
        "dead servers: " + metrics.getDeadServerNames(),
        "regions: "
            + metrics.getRegionCount()
            + ", in transition: "
            + metrics.getRegionStatesInTransition().size(),
        "balancer: " + BalancerCommand.word(Boolean.TRUE.equals(metrics.getBalancerOn())),
        "",
        servers.toText());
  }

  private static JsonArray names(Iterable<ServerName> servers) {
    JsonArray names = new JsonArray();
    servers.forEach(server -> names.add(server.toString()));
    return names;
  }

  private static long bytes(Size size) {
    return (long) size.get(Size.Unit.BYTE);
  }
}
