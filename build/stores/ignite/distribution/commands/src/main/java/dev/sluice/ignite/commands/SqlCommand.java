package dev.sluice.ignite.commands;

import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.ignite.client.IgniteClient;
import org.apache.ignite.client.IgniteClientConnectionException;
import org.apache.ignite.lang.IgniteException;
import org.apache.ignite.sql.ResultSet;
import org.apache.ignite.sql.SqlRow;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "sql",
    header = "Execute SQL.",
    description = {
      "Each statement is committed by itself, in the order given; the first that fails ends it.",
      "Rows are lines, columns are separated by tabs."
    })
final class SqlCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(
      names = "--address",
      paramLabel = "HOST:PORT",
      description = "Client connector of a node; may be repeated (default: localhost:10800).")
  private List<String> addresses = List.of("localhost:10800");

  @Parameters(arity = "1..*", paramLabel = "STATEMENT", description = "Statements.")
  private List<String> statements;

  @Override
  public Integer call() {
    try (IgniteClient client =
        IgniteClient.builder().addresses(addresses.toArray(String[]::new)).build()) {
      statements.forEach(statement -> execute(client, statement));
    } catch (IgniteClientConnectionException e) {
      throw new CommandFailure(
          "no node answers at " + String.join(", ", addresses) + ": " + e.getMessage(),
          "look whether one runs, whether it is part of a cluster (ignite status), and at"
              + " clientConnector.port of its ignite-config.conf");
    }
    return CommandLine.ExitCode.OK;
  }

  private void execute(IgniteClient client, String statement) {
    PrintWriter out = spec.commandLine().getOut();
    try (ResultSet<SqlRow> result = client.sql().execute(null, statement)) {
      if (result.hasRowSet()) {
        result.forEachRemaining(row -> out.println(line(row)));
      }
      out.flush();
    } catch (IgniteClientConnectionException e) {
      throw e;
    } catch (IgniteException e) {
      throw new CommandFailure(statement + ": " + e.getMessage(), "correct the statement");
    }
  }

  static String line(SqlRow row) {
    return IntStream.range(0, row.columnCount())
        .mapToObj(column -> String.valueOf(row.<Object>value(column)))
        .collect(Collectors.joining("\t"));
  }
}
