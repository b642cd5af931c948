package dev.sluice.hbase.commands;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The commands of the program {@code hbase}; its launcher is a script. */
@Command(
    name = "hbase",
    header = "Works with tables, data and regions of HBase.",
    description = {
      "",
      "  hbase create orders --family cf,VERSIONS=3 --splits g,n",
      "  hbase put orders row1 cf:name 'A. Person'",
      "  hbase get orders row1",
      "  hbase scan orders --start row1 --limit 10",
      "  hbase -o json status",
      "",
      "Rows, qualifiers and values are text; \\xHH stands for any byte, \\x5C for the backslash.",
      "A table is NAME or NAMESPACE:NAME.",
      "",
    },
    subcommands = {
      StatusCommand.class,
      TablesCommand.class,
      DescribeCommand.class,
      CreateCommand.class,
      AlterCommand.class,
      TableSwitches.Enable.class,
      TableSwitches.Disable.class,
      TableSwitches.Drop.class,
      TableSwitches.Truncate.class,
      PutCommand.class,
      GetCommand.class,
      DeleteCommand.class,
      ScanCommand.class,
      CountCommand.class,
      RegionsCommand.class,
      RegionOrders.Move.class,
      RegionOrders.Assign.class,
      RegionOrders.Unassign.class,
      RegionOrders.Split.class,
      RegionOrders.Merge.class,
      TransitionsCommand.class,
      BalanceCommand.class,
      BalancerCommand.class,
      FlushCommand.class,
      CompactCommand.class,
      CompactionStateCommand.class,
      CompactionSwitchCommand.class,
      UpdateConfigCommand.class,
      SnapshotCommand.class
    },
    synopsisSubcommandLabel = "COMMAND",
    mixinStandardHelpOptions = false,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {"0:done", "1:not done; the message says why", "2:wrong command line"})
public final class Main implements Runnable {
  private static final int HELP_WIDTH = 100;
  private static final int MILLISECONDS_PER_SECOND = 1000;

  /** How answers are written. */
  enum Output {
    text,
    json
  }

  @Spec private CommandSpec spec;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      scope = CommandLine.ScopeType.INHERIT,
      description = "Show this help.")
  private boolean help;

  @Option(
      names = {"-o", "--output"},
      scope = CommandLine.ScopeType.INHERIT,
      paramLabel = "text|json",
      description = "For people, or one JSON document (default: ${DEFAULT-VALUE}).")
  private Output output = Output.text;

  @Option(
      names = "--timeout",
      scope = CommandLine.ScopeType.INHERIT,
      paramLabel = "SECONDS",
      description = "How long one call to HBase may take (default: ${DEFAULT-VALUE}).")
  private int timeoutSeconds = 120;

  @Option(
      names = "-D",
      scope = CommandLine.ScopeType.INHERIT,
      paramLabel = "KEY=VALUE",
      description = "A setting, stronger than hbase-site.xml.")
  private Map<String, String> settings = new LinkedHashMap<>();

  /** Runs the command and ends the process with its exit code. */
  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    return new CommandLine(new Main())
        .setUsageHelpWidth(HELP_WIDTH)
        .setCaseInsensitiveEnumValuesAllowed(false)
        .setExecutionExceptionHandler(Main::report);
  }

  @Override
  public void run() {
    throw new CommandLine.ParameterException(spec.commandLine(), "there is no command");
  }

  Output output() {
    return output;
  }

  int timeoutSeconds() {
    return timeoutSeconds;
  }

  /** Connects to the cluster of hbase-site.xml. */
  Connection connect() throws IOException {
    if (settings.isEmpty() && Main.class.getResource("/hbase-site.xml") == null) {
      String folder = System.getProperty("sluice.configuration", "the class path");
      throw new CommandFailure(
          "there is no hbase-site.xml in " + folder,
          "name its folder by --config or HBASE_CONF_DIR: hbase --config DIR COMMAND");
    }
    return ConnectionFactory.createConnection(configuration());
  }

  private Configuration configuration() {
    Configuration configuration = HBaseConfiguration.create();
    // Else some calls would go on for a quarter of an hour where no server is.
    int milliseconds = Math.multiplyExact(timeoutSeconds, MILLISECONDS_PER_SECOND);
    configuration.setInt("hbase.client.operation.timeout", milliseconds);
    configuration.setInt("hbase.client.meta.operation.timeout", milliseconds);
    configuration.setInt("hbase.client.sync.wait.timeout.msec", milliseconds);
    settings.forEach(configuration::set);
    return configuration;
  }

  private static int report(Exception e, CommandLine command, CommandLine.ParseResult parsed) {
    CommandFailure failure = Failures.explain(e);
    PrintWriter err = command.getErr();
    err.println("hbase: " + failure.getMessage());
    err.println("  what to do: " + failure.advice());
    return CommandLine.ExitCode.SOFTWARE;
  }
}
