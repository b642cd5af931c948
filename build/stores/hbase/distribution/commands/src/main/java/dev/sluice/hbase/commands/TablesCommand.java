package dev.sluice.hbase.commands;

import java.io.IOException;
import java.util.StringJoiner;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "tables",
    header = "List tables, a name on each line.",
    description = "As JSON it also says which are enabled.")
final class TablesCommand extends ClusterCommand {
  @Parameters(
      arity = "0..1",
      paramLabel = "PATTERN",
      description = "A regular expression for the name (default: all).")
  private String pattern = ".*";

  @Option(names = "--system", description = "Also HBase's own tables.")
  private boolean system;

  @Override
  void check() {
    try {
      Pattern.compile(pattern);
    } catch (PatternSyntaxException e) {
      throw wrong("'" + pattern + "' is no regular expression: " + e.getDescription());
    }
  }

  @Override
  Answer ask(Connection connection) throws IOException {
    try (Admin admin = connection.getAdmin()) {
      Rows rows = new Rows("table", "enabled");
      StringJoiner names = new StringJoiner("\n");
      for (TableName table : admin.listTableNames(Pattern.compile(pattern), system)) {
        rows.add(table.getNameAsString(), admin.isTableEnabled(table));
        names.add(table.getNameAsString());
      }
      return new Answer(rows.toJson(), names.toString());
    }
  }
}
