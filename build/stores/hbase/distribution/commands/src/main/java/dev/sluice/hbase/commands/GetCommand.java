package dev.sluice.hbase.commands;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Table;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "get",
    header = "Read one row, a line for each cell.",
    description = "A row that is not there has no lines; that is no failure.")
final class GetCommand extends ClusterCommand {
  @Parameters(index = "0", paramLabel = "TABLE", description = "The table.")
  private String name;

  @Parameters(index = "1", paramLabel = "ROW", description = "The row.")
  private String row;

  @Parameters(
      index = "2..*",
      arity = "0..*",
      paramLabel = "COLUMN",
      description = "FAMILY or FAMILY:QUALIFIER (default: all).")
  private List<String> columns = new ArrayList<>();

  @Option(
      names = "--versions",
      paramLabel = "COUNT",
      description = "So many of the newest values of each (default: ${DEFAULT-VALUE}).")
  private int versions = 1;

  @Override
  void check() {
    if (versions < 1) {
      throw wrong("--versions has to be 1 or more");
    }
  }

  @Override
  Answer ask(Connection connection) throws IOException {
    Get get = new Get(BinaryText.parse(row)).readVersions(versions);
    for (Column column : columns.stream().map(Column::parse).toList()) {
      if (column.qualifier() == null) {
        get.addFamily(column.family());
      } else {
        get.addColumn(column.family(), column.qualifier());
      }
    }
    Result result;
    try (Table table = connection.getTable(table(name))) {
      result = table.get(get);
    }
    try (CellPrinter printer = new CellPrinter(out(), isJson())) {
      printer.print(result);
    }
    return null;
  }
}
