package dev.sluice.hbase.commands;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.util.Bytes;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Commands that say where regions are, and how many. */
final class RegionOrders {
  private static final String REGION = "The encoded name, as `hbase regions` shows it.";

  private RegionOrders() {}

  @Command(
      name = "move",
      header = "Move a region to another server; returns when it is open there.")
  static final class Move extends ClusterCommand {
    @Parameters(index = "0", paramLabel = "REGION", description = REGION)
    private String region;

    @Parameters(
        index = "1",
        arity = "0..1",
        paramLabel = "SERVER",
        description = "HOST, HOST:PORT or HOST,PORT,STARTCODE (default: any other one).")
    private String server;

    @Override
    Answer ask(Connection connection) throws IOException {
      try (Admin admin = connection.getAdmin()) {
        if (server == null) {
          admin.move(Bytes.toBytes(region));
        } else {
          admin.move(Bytes.toBytes(region), Servers.find(admin, server));
        }
      }
      return Answer.done("moved", "region", region);
    }
  }

  @Command(name = "assign", header = "Open a region that is closed.")
  static final class Assign extends ClusterCommand {
    @Parameters(paramLabel = "REGION", description = REGION)
    private String region;

    @Override
    Answer ask(Connection connection) throws IOException {
      try (Admin admin = connection.getAdmin()) {
        admin.assign(Bytes.toBytes(region));
      }
      return Answer.done("assigned", "region", region);
    }
  }

  @Command(name = "unassign", header = "Close a region, and leave it closed until it is assigned.")
  static final class Unassign extends ClusterCommand {
    @Parameters(paramLabel = "REGION", description = REGION)
    private String region;

    @Override
    Answer ask(Connection connection) throws IOException {
      try (Admin admin = connection.getAdmin()) {
        admin.unassign(Bytes.toBytes(region));
      }
      return Answer.done("unassigned", "region", region);
    }
  }

  @Command(name = "split", header = "Split a region in two.")
  static final class Split extends ClusterCommand {
    @Parameters(index = "0", paramLabel = "REGION", description = REGION)
    private String region;

    @Option(names = "--at", paramLabel = "ROW", description = "First row of the second half.")
    private String row;

    @Override
    Answer ask(Connection connection) throws IOException {
      try (Admin admin = connection.getAdmin()) {
        byte[] name = Bytes.toBytes(region);
        await(
            row == null
                ? admin.splitRegionAsync(name)
                : admin.splitRegionAsync(name, BinaryText.parse(row)),
            main().timeoutSeconds());
      }
      return Answer.done("split", "region", region);
    }
  }

  @Command(name = "merge", header = "Merge regions that lie side by side.")
  static final class Merge extends ClusterCommand {
    @Parameters(arity = "2..*", paramLabel = "REGION", description = REGION)
    private List<String> regions;

    @Override
    Answer ask(Connection connection) throws IOException {
      try (Admin admin = connection.getAdmin()) {
        byte[][] names = regions.stream().map(Bytes::toBytes).toArray(byte[][]::new);
        await(admin.mergeRegionsAsync(names, false), main().timeoutSeconds());
      }
      return Answer.done("merged", "regions", String.join(" ", regions));
    }
  }

  private static void await(Future<Void> order, int timeoutSeconds) throws IOException {
    try {
      order.get(timeoutSeconds, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    } catch (TimeoutException e) {
      throw new CommandFailure(
          "it is not done after " + timeoutSeconds + " s, and goes on",
          "look at it with `hbase transitions`, or give a longer --timeout");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandFailure("interrupted; the order goes on", "look at it: hbase transitions");
    }
  }
}
