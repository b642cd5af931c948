package dev.sluice.ignite.commands;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "init",
    header = "Make a cluster of the nodes that run and know each other.",
    description = {
      "Once in the life of a cluster. It ends when the node that was asked serves.",
      "One metadata node is enough for a cluster of one, three outlive the loss of one."
    })
final class InitCommand implements Callable<Integer> {
  private static final long POLL_MILLISECONDS = 500;

  @Option(
      names = "--rest",
      paramLabel = "HOST:PORT",
      description = "REST interface of one of the nodes (default: ${DEFAULT-VALUE}).")
  private String rest = "localhost:10300";

  @Option(
      names = "--cluster",
      required = true,
      paramLabel = "NAME",
      description = "Name of the cluster.")
  private String cluster;

  @Option(
      names = "--metastorage-node",
      required = true,
      paramLabel = "NODE",
      description = "Name of a node that keeps the cluster's metadata; may be repeated.")
  private List<String> nodes;

  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description = "How long the node may take to serve (default: ${DEFAULT-VALUE}).")
  private int timeoutSeconds = 120;

  @Override
  public Integer call() throws InterruptedException {
    RestNode node = new RestNode(rest);
    node.initialize(cluster, nodes);
    long deadline = System.nanoTime() + Duration.ofSeconds(timeoutSeconds).toNanos();
    while (!node.state().equals("STARTED")) {
      if (System.nanoTime() - deadline > 0) {
        throw new CommandFailure(
            "the cluster is not there after " + timeoutSeconds + " s",
            "look whether the metadata nodes run, into their logs, and at ignite status");
      }
      Thread.sleep(POLL_MILLISECONDS);
    }
    return CommandLine.ExitCode.OK;
  }
}
