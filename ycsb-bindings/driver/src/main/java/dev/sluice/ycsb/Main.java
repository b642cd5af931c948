package dev.sluice.ycsb;

import java.nio.file.NoSuchFileException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;

/** The command {@code sluice-ycsb}. */
@Command(
    name = "sluice-ycsb",
    header = "YCSB for the stores of Sluice.",
    description = {
      "",
      "Prepare a table, load it, run a workload on it, and keep what was measured:",
      "",
      "  sluice-ycsb prepare postgres create-table -P my.properties",
      "  sluice-ycsb load postgres -P a.properties -P profiles/smoke.properties -P my.properties",
      "  sluice-ycsb run  postgres -P a.properties -P profiles/smoke.properties -P my.properties"
          + " \\",
      "    --threads 10 --results results/1",
      "",
      "where my.properties says how to reach the store, for example:",
      "",
      "  postgres.url=jdbc:postgresql://localhost:5432/ycsb",
      "  postgres.user=ycsb",
      "  postgres.passfile=/home/me/.pgpass",
      "",
    },
    subcommands = {
      PrepareCommand.class,
      LoadCommand.class,
      RunCommand.class,
      IntervalsCommand.class,
      StoresCommand.class
    },
    synopsisSubcommandLabel = "COMMAND",
    versionProvider = Main.Version.class,
    mixinStandardHelpOptions = true,
    scope = CommandLine.ScopeType.INHERIT,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:done, and no operation failed",
      "1:not done; the message says why",
      "2:wrong command line",
      "3:done, results are written, but operations failed"
    })
public final class Main {
  /** The run is complete, and some of its operations failed. */
  static final int EXIT_OPERATIONS_FAILED = 3;

  /** Columns, for whole example commands. */
  private static final int HELP_WIDTH = 100;

  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {"sluice-ycsb " + Main.class.getPackage().getImplementationVersion()};
    }
  }

  /** Runs the command and ends the process with its exit code. */
  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    return new CommandLine(new Main())
        .setUsageHelpWidth(HELP_WIDTH)
        .setExecutionExceptionHandler(Main::report);
  }

  private static int report(Exception e, CommandLine command, CommandLine.ParseResult parsed) {
    command.getErr().println("sluice-ycsb: " + message(e));
    boolean expected = e instanceof SettingException || e instanceof NoSuchFileException;
    if (!expected && e.getCause() != null) {
      e.getCause().printStackTrace(command.getErr());
    }
    return CommandLine.ExitCode.SOFTWARE;
  }

  private static String message(Exception e) {
    if (e instanceof NoSuchFileException) {
      return "no such file or directory: " + e.getMessage();
    }
    return e.getMessage() == null ? e.toString() : e.getMessage();
  }
}
