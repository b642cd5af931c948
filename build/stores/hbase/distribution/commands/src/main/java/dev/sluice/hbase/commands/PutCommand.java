package dev.sluice.hbase.commands;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.hbase.client.BufferedMutator;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "put",
    header = "Write cells.",
    description = {
      "",
      "  hbase put orders row1 cf:name 'A. Person'",
      "  hbase put orders row1 cf:balance -- -5",
      "  hbase scan orders | hbase put copy --stdin",
      "",
    })
final class PutCommand extends ClusterCommand {
  @Parameters(index = "0", paramLabel = "TABLE", description = "The table.")
  private String name;

  @Parameters(index = "1", arity = "0..1", paramLabel = "ROW", description = "The row.")
  private String row;

  @Parameters(
      index = "2",
      arity = "0..1",
      paramLabel = "FAMILY:QUALIFIER",
      description = "The column.")
  private String column;

  @Parameters(index = "3", arity = "0..1", paramLabel = "VALUE", description = "The value.")
  private String value;

  @Option(
      names = "--stdin",
      description =
          "Read lines ROW, FAMILY:QUALIFIER, VALUE with tabs between, as scan prints them.")
  private boolean stdin;

  @Override
  void check() {
    if (stdin && row != null) {
      throw wrong("give a cell, or --stdin, not both");
    }
    if (!stdin && value == null) {
      throw wrong("give ROW, FAMILY:QUALIFIER and VALUE, or --stdin");
    }
  }

  @Override
  Answer ask(Connection connection) throws IOException {
    long cells = stdin ? putLines(connection) : putOne(connection);
    JsonObject json = new JsonObject();
    json.addProperty("cells", cells);
    return new Answer(json, "wrote " + cells + (cells == 1 ? " cell" : " cells"));
  }

  private long putOne(Connection connection) throws IOException {
    Column to = Column.parseOne(column);
    try (Table table = connection.getTable(table(name))) {
      table.put(
          new Put(BinaryText.parse(row))
              .addColumn(to.family(), to.qualifier(), BinaryText.parse(value)));
    }
    return 1;
  }

  private long putLines(Connection connection) throws IOException {
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    long cells = 0;
    // Closing it sends the rest, and throws what any of them failed with.
    try (BufferedMutator table = connection.getBufferedMutator(table(name))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        cells++;
        table.mutate(CellLine.parse(line, cells));
      }
    }
    return cells;
  }
}
