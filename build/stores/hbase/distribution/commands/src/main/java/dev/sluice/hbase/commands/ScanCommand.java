package dev.sluice.hbase.commands;

import java.io.IOException;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "scan",
    header = "Read rows in their order, a line for each cell.",
    description = {
      "Lines are ROW, FAMILY:QUALIFIER, VALUE with tabs between.",
      "",
      "  hbase scan orders --start g --stop n --column cf:name --limit 100",
      "",
    })
final class ScanCommand extends ClusterCommand {
  @Parameters(paramLabel = "TABLE", description = "The table.")
  private String name;

  @Mixin private RowRange range = new RowRange();

  @Option(names = "--limit", paramLabel = "ROWS", description = "So many rows at most.")
  private int limit;

  @Option(
      names = "--versions",
      paramLabel = "COUNT",
      description = "So many of the newest values of each cell (default: ${DEFAULT-VALUE}).")
  private int versions = 1;

  @Option(names = "--reverse", description = "From the last row to the first; --start is the last.")
  private boolean reverse;

  @Override
  void check() {
    if (range.fault() != null) {
      throw wrong(range.fault());
    }
    if (limit < 0 || versions < 1) {
      throw wrong("--limit has to be 0 (all) or more, --versions 1 or more");
    }
  }

  @Override
  Answer ask(Connection connection) throws IOException {
    Scan scan = range.scan().readVersions(versions).setReversed(reverse);
    if (limit > 0) {
      scan.setLimit(limit);
    }
    try (Table table = connection.getTable(table(name));
        ResultScanner results = table.getScanner(scan);
        CellPrinter printer = new CellPrinter(out(), isJson())) {
      for (Result result : results) {
        printer.print(result);
      }
    }
    return null;
  }
}
