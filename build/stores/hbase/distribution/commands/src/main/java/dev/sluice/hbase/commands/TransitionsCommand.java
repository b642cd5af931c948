package dev.sluice.hbase.commands;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.ClusterMetrics;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.master.RegionState;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "transitions",
    header = "List regions that are on their way from one state to another.",
    description = "With --wait it ends with 0 once there are none, with 1 if there still are.")
final class TransitionsCommand extends ClusterCommand {
  private static final long POLL_MILLISECONDS = 200;

  @Option(
      names = "--wait",
      paramLabel = "SECONDS",
      description = "Wait so long at most until there are none.")
  private int waitSeconds;

  @Override
  Answer ask(Connection connection) throws IOException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(waitSeconds);
    try (Admin admin = connection.getAdmin()) {
      ClusterMetrics metrics = admin.getClusterMetrics();
      while (!metrics.getRegionStatesInTransition().isEmpty() && System.nanoTime() < end) {
        pause();
        metrics = admin.getClusterMetrics();
      }
      int left = metrics.getRegionStatesInTransition().size();
      if (waitSeconds > 0 && left > 0) {
        throw new CommandFailure(
            left + " regions are still in transition after " + waitSeconds + " s",
            "look at them with `hbase transitions`, and into the master's log");
      }
      return rows(metrics).toAnswer();
    }
  }

  static Rows rows(ClusterMetrics metrics) {
    Rows rows = new Rows("region", "table", "state", "server", "seconds");
    for (RegionState state : metrics.getRegionStatesInTransition()) {
      rows.add(
          state.getRegion().getEncodedName(),
          state.getRegion().getTable().getNameAsString(),
          state.getState().name(),
          String.valueOf(state.getServerName()),
          (System.currentTimeMillis() - state.getStamp()) / 1000.0);
    }
    return rows;
  }

  /** The master cannot be asked to tell. */
  private static void pause() {
    try {
      Thread.sleep(POLL_MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandFailure("interrupted", "call it again");
    }
  }
}
