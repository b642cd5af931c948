package dev.sluice.hbase.commands;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.StringJoiner;
import java.util.TreeSet;
import org.apache.hadoop.hbase.RegionMetrics;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.Size;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.RegionInfo;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "regions",
    header = "List open regions, as the region servers have them.",
    description = "The first column is what move, assign, split and merge want.")
final class RegionsCommand extends ClusterCommand {
  @Option(names = "--server", paramLabel = "SERVER", description = "Only those of this server.")
  private String server;

  @Option(names = "--table", paramLabel = "TABLE", description = "Only those of this table.")
  private String name;

  @Option(names = "--names", description = "Only the first column, without its header.")
  private boolean names;

  @Override
  Answer ask(Connection connection) throws IOException {
    Rows rows =
        new Rows(
            "region",
            "table",
            "first_row",
            "server",
            "store_files",
            "store_file_bytes",
            "memstore_bytes",
            "locality",
            "compaction");
    StringJoiner encoded = new StringJoiner("\n");
    try (Admin admin = connection.getAdmin()) {
      TableName table = name == null ? null : table(name);
      if (table != null && !admin.tableExists(table)) {
        throw new CommandFailure("there is no table " + name, "look at its name: hbase tables");
      }
      for (ServerName each : servers(admin)) {
        for (RegionMetrics region : admin.getRegionMetrics(each, table)) {
          add(rows, each, region);
          encoded.add(encoded(region));
        }
      }
    }
    return names ? new Answer(rows.toJson(), encoded.toString()) : rows.toAnswer();
  }

  private Collection<ServerName> servers(Admin admin) throws IOException {
    return server == null
        ? new TreeSet<>(admin.getRegionServers())
        : List.of(Servers.find(admin, server));
  }

  private static void add(Rows rows, ServerName server, RegionMetrics region) throws IOException {
    rows.add(
        encoded(region),
        RegionInfo.getTable(region.getRegionName()).getNameAsString(),
        BinaryText.format(RegionInfo.getStartKey(region.getRegionName())),
        server.toString(),
        region.getStoreFileCount(),
        (long) region.getStoreFileSize().get(Size.Unit.BYTE),
        (long) region.getMemStoreSize().get(Size.Unit.BYTE),
        region.getDataLocality(),
        region.getCompactionState().name().toLowerCase(Locale.ROOT));
  }

  private static String encoded(RegionMetrics region) {
    return RegionInfo.encodeRegionName(region.getRegionName());
  }
}
