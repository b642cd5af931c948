package dev.sluice.hbase.commands;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Table;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(name = "delete", header = "Remove a row, or columns of it, in all versions.")
final class DeleteCommand extends ClusterCommand {
  @Parameters(index = "0", paramLabel = "TABLE", description = "The table.")
  private String name;

  @Parameters(index = "1", paramLabel = "ROW", description = "The row.")
  private String row;

  @Parameters(
      index = "2..*",
      arity = "0..*",
      paramLabel = "COLUMN",
      description = "FAMILY or FAMILY:QUALIFIER (default: the whole row).")
  private List<String> columns = new ArrayList<>();

  @Override
  Answer ask(Connection connection) throws IOException {
    Delete delete = new Delete(BinaryText.parse(row));
    for (Column column : columns.stream().map(Column::parse).toList()) {
      if (column.qualifier() == null) {
        delete.addFamily(column.family());
      } else {
        delete.addColumns(column.family(), column.qualifier());
      }
    }
    try (Table table = connection.getTable(table(name))) {
      table.delete(delete);
    }
    return Answer.done("deleted", "row", row);
  }
}
