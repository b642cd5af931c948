package dev.sluice.hbase.commands;

import java.io.IOException;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.filter.FirstKeyOnlyFilter;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(name = "count", header = "Count rows, by reading all of them.")
final class CountCommand extends ClusterCommand {
  @Parameters(paramLabel = "TABLE", description = "The table.")
  private String name;

  @Mixin private RowRange range = new RowRange();

  @Override
  void check() {
    if (range.fault() != null) {
      throw wrong(range.fault());
    }
  }

  @Override
  Answer ask(Connection connection) throws IOException {
    Scan scan = range.scan().setFilter(new FirstKeyOnlyFilter());
    long rows = 0;
    try (Table table = connection.getTable(table(name));
        ResultScanner results = table.getScanner(scan)) {
      while (results.next() != null) {
        rows++;
      }
    }
    JsonObject json = new JsonObject();
    json.addProperty("rows", rows);
    return new Answer(json, Long.toString(rows));
  }
}
