package dev.sluice.cassandra.commands;

import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The commands of the program {@code cassandra} that are not upstream's; its launcher is a script.
 */
@Command(
    name = "cassandra",
    header = "Executes CQL.",
    description = {"", "  cassandra cql --address n1:9042 'SELECT * FROM system.local'", ""},
    subcommands = CqlCommand.class,
    synopsisSubcommandLabel = "COMMAND",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {"0:done", "1:not done; the message says why", "2:wrong command line"})
public final class Main implements Runnable {
  private static final int HELP_WIDTH = 100;

  @Spec private CommandSpec spec;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      scope = CommandLine.ScopeType.INHERIT,
      description = "Show this help.")
  private boolean help;

  /** Runs the command and ends the process with its exit code. */
  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    return new CommandLine(new Main())
        .setUsageHelpWidth(HELP_WIDTH)
        .setExecutionExceptionHandler(Main::report);
  }

  @Override
  public void run() {
    throw new CommandLine.ParameterException(spec.commandLine(), "there is no command");
  }

  private static int report(Exception e, CommandLine command, CommandLine.ParseResult parsed) {
    PrintWriter err = command.getErr();
    err.println("cassandra: " + (e instanceof CommandFailure ? e.getMessage() : e.toString()));
    if (e instanceof CommandFailure failure) {
      err.println("  what to do: " + failure.advice());
    }
    return CommandLine.ExitCode.SOFTWARE;
  }
}
