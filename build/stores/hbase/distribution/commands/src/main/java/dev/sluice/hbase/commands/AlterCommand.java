package dev.sluice.hbase.commands;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "alter",
    header = "Change a table's attributes and column families.",
    description = {
      "Regions are opened anew one by one; it returns when all are.",
      "",
      "  hbase alter orders --family cf,VERSIONS=5 --set SPLIT_ENABLED=false",
      "  hbase alter orders --delete-family big",
      "",
    })
final class AlterCommand extends ClusterCommand {
  @Parameters(paramLabel = "TABLE", description = "The table.")
  private String name;

  @Option(
      names = {"-f", "--family"},
      paramLabel = "NAME[,KEY=VALUE...]",
      description = "Attributes of a family; it is added if it is new.")
  private List<String> families = new ArrayList<>();

  @Option(names = "--set", paramLabel = "KEY=VALUE[,...]", description = "Attributes of the table.")
  private List<String> attributes = new ArrayList<>();

  @Option(
      names = "--unset",
      split = ",",
      paramLabel = "KEY[,...]",
      description = "Attributes of the table that get their default.")
  private List<String> unset = new ArrayList<>();

  @Option(
      names = "--delete-family",
      paramLabel = "NAME",
      description = "A family that goes, with its data.")
  private List<String> deleted = new ArrayList<>();

  @Override
  void check() {
    if (families.isEmpty() && attributes.isEmpty() && unset.isEmpty() && deleted.isEmpty()) {
      throw wrong("nothing to change: give --family, --set, --unset or --delete-family");
    }
  }

  @Override
  Answer ask(Connection connection) throws IOException {
    try (Admin admin = connection.getAdmin()) {
      admin.modifyTable(changed(admin.getDescriptor(table(name))));
    }
    return Answer.done("altered", "table", name);
  }

  private TableDescriptor changed(TableDescriptor now) {
    TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(now);
    attributes.forEach(specification -> Attributes.set(table, specification));
    unset.forEach(key -> table.removeValue(Attributes.keyOfTable(key)));
    for (String family : deleted) {
      if (!now.hasColumnFamily(Bytes.toBytes(family))) {
        throw new CommandFailure(
            name + " has no column family " + family, "look at them: hbase describe " + name);
      }
      table.removeColumnFamily(Bytes.toBytes(family));
    }
    for (String specification : families) {
      byte[] family = Bytes.toBytes(Attributes.familyName(specification));
      ColumnFamilyDescriptor old = now.getColumnFamily(family);
      if (old == null) {
        table.setColumnFamily(
            Attributes.family(specification, ColumnFamilyDescriptorBuilder.of(family)));
      } else {
        table.modifyColumnFamily(Attributes.family(specification, old));
      }
    }
    return table.build();
  }
}
