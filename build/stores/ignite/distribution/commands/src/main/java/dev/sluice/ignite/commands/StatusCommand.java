package dev.sluice.ignite.commands;

import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "status",
    header = "Show the state of a node.",
    description = "It ends with 0 if the node serves: if it is STARTED.")
final class StatusCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(
      names = "--rest",
      paramLabel = "HOST:PORT",
      description = "REST interface of the node (default: ${DEFAULT-VALUE}).")
  private String rest = "localhost:10300";

  @Override
  public Integer call() throws InterruptedException {
    String state = new RestNode(rest).state();
    spec.commandLine().getOut().println(state);
    return state.equals("STARTED") ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
  }
}
