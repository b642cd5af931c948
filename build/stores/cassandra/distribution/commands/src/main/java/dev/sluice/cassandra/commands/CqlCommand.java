package dev.sluice.cassandra.commands;

import com.datastax.driver.core.Cluster;
import com.datastax.driver.core.ConsistencyLevel;
import com.datastax.driver.core.QueryOptions;
import com.datastax.driver.core.ResultSet;
import com.datastax.driver.core.Row;
import com.datastax.driver.core.Session;
import com.datastax.driver.core.SocketOptions;
import com.datastax.driver.core.exceptions.DriverException;
import com.datastax.driver.core.exceptions.NoHostAvailableException;
import com.datastax.driver.core.policies.DCAwareRoundRobinPolicy;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "cql",
    header = "Execute CQL.",
    description = {
      "Statements are executed in the order given; the first that fails ends it.",
      "Without any they are read from standard input, one a line.",
      "Rows are lines, columns are separated by tabs."
    })
final class CqlCommand implements Callable<Integer> {
  private static final int DEFAULT_PORT = 9042;

  @Spec private CommandSpec spec;

  @Option(
      names = "--address",
      paramLabel = "HOST[:PORT]",
      description = "Native transport of a node; may be repeated (default: localhost:9042).")
  private List<String> addresses = List.of("localhost:9042");

  @Option(
      names = "--consistency",
      paramLabel = "LEVEL",
      description = "ONE, QUORUM, LOCAL_QUORUM, ALL ... (default: ${DEFAULT-VALUE}).")
  private ConsistencyLevel consistency = ConsistencyLevel.ONE;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description = "How long a node may take for an answer (default: ${DEFAULT-VALUE}).")
  private int timeoutSeconds = 30;

  @Parameters(arity = "0..*", paramLabel = "STATEMENT", description = "Statements.")
  private List<String> statements = List.of();

  @Override
  public Integer call() {
    try (Cluster cluster = builder().build();
        Session session = cluster.connect()) {
      if (statements.isEmpty()) {
        executeLines(session);
      } else {
        statements.forEach(statement -> execute(session, statement));
      }
    } catch (NoHostAvailableException e) {
      throw new CommandFailure(
          "no node answers at " + String.join(", ", addresses) + ": " + e.getMessage(),
          "look whether one runs (cassandra nodetool status), and at rpc_address and"
              + " native_transport_port of its cassandra.yaml");
    }
    return CommandLine.ExitCode.OK;
  }

  private Cluster.Builder builder() {
    List<InetSocketAddress> contacts = addresses.stream().map(CqlCommand::address).toList();
    return Cluster.builder()
        .addContactPointsWithPorts(contacts)
        .withPort(contacts.get(0).getPort())
        .withLoadBalancingPolicy(DCAwareRoundRobinPolicy.builder().build())
        .withQueryOptions(new QueryOptions().setConsistencyLevel(consistency))
        .withSocketOptions(new SocketOptions().setReadTimeoutMillis(timeoutSeconds * 1000))
        .withoutJMXReporting()
        .withoutMetrics();
  }

  static InetSocketAddress address(String text) {
    int colon = text.lastIndexOf(':');
    try {
      InetSocketAddress address =
          colon < 0
              ? new InetSocketAddress(text, DEFAULT_PORT)
              : new InetSocketAddress(
                  text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
      if (!text.startsWith(":") && !address.isUnresolved()) {
        return address;
      }
    } catch (IllegalArgumentException e) {
      // Reported below, as a name without an address is.
    }
    throw new CommandFailure(text + " is no address", "give it as HOST:PORT");
  }

  private void executeLines(Session session) {
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (!line.isBlank()) {
          execute(session, line);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void execute(Session session, String statement) {
    PrintWriter out = spec.commandLine().getOut();
    try {
      ResultSet result = session.execute(statement);
      result.forEach(row -> out.println(line(row)));
      out.flush();
    } catch (NoHostAvailableException e) {
      throw e;
    } catch (DriverException e) {
      throw new CommandFailure(statement + ": " + e.getMessage(), "correct the statement");
    }
  }

  private static String line(Row row) {
    return IntStream.range(0, row.getColumnDefinitions().size())
        .mapToObj(column -> String.valueOf(row.getObject(column)))
        .collect(Collectors.joining("\t"));
  }
}
