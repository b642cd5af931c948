package dev.sluice.ignite.commands;

import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The commands of the program {@code ignite}; its launcher is a script. */
@Command(
    name = "ignite",
    header = "Makes a cluster of Ignite, shows the state of a node, executes SQL.",
    description = {
      "",
      "  ignite init --cluster orders --metastorage-node n1 --metastorage-node n2",
      "  ignite status --rest n1:10300",
      "  ignite sql --address n1:10800 'SELECT 1'",
      "",
    },
    subcommands = {InitCommand.class, StatusCommand.class, SqlCommand.class},
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
    err.println("ignite: " + (e instanceof CommandFailure ? e.getMessage() : e.toString()));
    if (e instanceof CommandFailure failure) {
      err.println("  what to do: " + failure.advice());
    }
    return CommandLine.ExitCode.SOFTWARE;
  }
}
