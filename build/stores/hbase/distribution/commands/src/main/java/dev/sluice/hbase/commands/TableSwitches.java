package dev.sluice.hbase.commands;

import java.io.IOException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Commands that take a whole table in or out of service. */
final class TableSwitches {
  private TableSwitches() {}

  /** One such command. */
  abstract static class TableSwitch extends ClusterCommand {
    @Parameters(paramLabel = "TABLE", description = "The table.")
    private String name;

    abstract String apply(Admin admin, TableName table) throws IOException;

    @Override
    final Answer ask(Connection connection) throws IOException {
      try (Admin admin = connection.getAdmin()) {
        return Answer.done(apply(admin, table(name)), "table", name);
      }
    }

    static void disableIfEnabled(Admin admin, TableName table) throws IOException {
      if (admin.isTableEnabled(table)) {
        admin.disableTable(table);
      }
    }
  }

  @Command(name = "enable", header = "Open the regions of a disabled table.")
  static final class Enable extends TableSwitch {
    @Override
    String apply(Admin admin, TableName table) throws IOException {
      admin.enableTable(table);
      return "enabled";
    }
  }

  @Command(name = "disable", header = "Close the regions of a table; its data stay.")
  static final class Disable extends TableSwitch {
    @Override
    String apply(Admin admin, TableName table) throws IOException {
      admin.disableTable(table);
      return "disabled";
    }
  }

  @Command(
      name = "drop",
      header = "Remove a table with its data.",
      description = "It has to be disabled, so that nobody loses one that is in use.")
  static final class Drop extends TableSwitch {
    @Option(names = "--disable", description = "Disable it first.")
    private boolean disable;

    @Override
    String apply(Admin admin, TableName table) throws IOException {
      if (disable) {
        disableIfEnabled(admin, table);
      }
      admin.deleteTable(table);
      return "dropped";
    }
  }

  @Command(
      name = "truncate",
      header = "Remove all data of a table.",
      description = "It is disabled first, and enabled in the end.")
  static final class Truncate extends TableSwitch {
    @Option(names = "--merge", description = "Begin with one region; else the splits stay.")
    private boolean merge;

    @Override
    String apply(Admin admin, TableName table) throws IOException {
      disableIfEnabled(admin, table);
      admin.truncateTable(table, !merge);
      return "truncated";
    }
  }
}
