package dev.sluice.tests.linkedlist;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** A list of rows, each of which refers to another, written while a store is hurt. */
@Command(
    name = "linked-list",
    mixinStandardHelpOptions = true,
    subcommands = {WriteCommand.class, VerifyCommand.class})
public final class Main {
  private Main() {}

  /** Exits with 0 if all went well, 1 if not, 2 if it was called in a wrong way. */
  public static void main(String[] arguments) {
    System.exit(new CommandLine(new Main()).execute(arguments));
  }
}
