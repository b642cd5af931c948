package dev.sluice.hbase.commands;

import java.io.IOException;
import java.time.Instant;
import java.util.Comparator;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.SnapshotDescription;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "snapshot",
    header = "Make, list, use and delete snapshots of tables.",
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      SnapshotCommand.Create.class,
      SnapshotCommand.Show.class,
      SnapshotCommand.Restore.class,
      SnapshotCommand.Copy.class,
      SnapshotCommand.Delete.class
    })
final class SnapshotCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new CommandLine.ParameterException(spec.commandLine(), "there is no command");
  }

  @Command(name = "create", header = "Make a snapshot of a table as it is now.")
  static final class Create extends ClusterCommand {
    @Parameters(index = "0", paramLabel = "TABLE", description = "The table.")
    private String table;

    @Parameters(index = "1", paramLabel = "SNAPSHOT", description = "The new snapshot.")
    private String snapshot;

    @Override
    Answer ask(Connection connection) throws IOException {
      try (Admin admin = connection.getAdmin()) {
        admin.snapshot(snapshot, table(table));
      }
      return Answer.done("created", "snapshot", snapshot);
    }
  }

  @Command(name = "list", header = "List snapshots.")
  static final class Show extends ClusterCommand {
    @Override
    Answer ask(Connection connection) throws IOException {
      Rows rows = new Rows("snapshot", "table", "created");
      try (Admin admin = connection.getAdmin()) {
        admin.listSnapshots().stream()
            .sorted(Comparator.comparing(SnapshotDescription::getName))
            .forEach(one -> add(rows, one));
      }
      return rows.toAnswer();
    }

    private static void add(Rows rows, SnapshotDescription snapshot) {
      rows.add(
          snapshot.getName(),
          snapshot.getTableNameAsString(),
          Instant.ofEpochMilli(snapshot.getCreationTime()).toString());
    }
  }

  @Command(
      name = "restore",
      header = "Make the snapshot's table what it was.",
      description = "The table has to be disabled. If it fails, the table stays as it is.")
  static final class Restore extends ClusterCommand {
    @Parameters(paramLabel = "SNAPSHOT", description = "The snapshot.")
    private String snapshot;

    @Override
    Answer ask(Connection connection) throws IOException {
      try (Admin admin = connection.getAdmin()) {
        admin.restoreSnapshot(snapshot, true);
      }
      return Answer.done("restored", "snapshot", snapshot);
    }
  }

  @Command(name = "clone", header = "Make a new table of a snapshot.")
  static final class Copy extends ClusterCommand {
    @Parameters(index = "0", paramLabel = "SNAPSHOT", description = "The snapshot.")
    private String snapshot;

    @Parameters(index = "1", paramLabel = "TABLE", description = "The new table.")
    private String table;

    @Override
    Answer ask(Connection connection) throws IOException {
      try (Admin admin = connection.getAdmin()) {
        admin.cloneSnapshot(snapshot, table(table));
      }
      return Answer.done("created", "table", table);
    }
  }

  @Command(name = "delete", header = "Delete a snapshot.")
  static final class Delete extends ClusterCommand {
    @Parameters(paramLabel = "SNAPSHOT", description = "The snapshot.")
    private String snapshot;

    @Override
    Answer ask(Connection connection) throws IOException {
      try (Admin admin = connection.getAdmin()) {
        admin.deleteSnapshot(snapshot);
      }
      return Answer.done("deleted", "snapshot", snapshot);
    }
  }
}
