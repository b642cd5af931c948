package dev.sluice.hbase.commands;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "create",
    header = "Create a table.",
    description = {
      "",
      "  hbase create orders --family cf --family big,COMPRESSION=NONE,TTL=86400 --splits g,n,t",
      "  hbase create usertable --family cf --regions 16 --first user1 --last user9",
      "",
    })
final class CreateCommand extends ClusterCommand {
  private static final int FEWEST_REGIONS = 3;

  @Parameters(paramLabel = "TABLE", description = "The new table.")
  private String name;

  @Option(
      names = {"-f", "--family"},
      required = true,
      paramLabel = "NAME[,KEY=VALUE...]",
      description =
          "A column family and its attributes, such as VERSIONS, TTL, COMPRESSION, or conf.KEY for"
              + " a key of hbase-site.xml. May be given more than once.")
  private List<String> families = new ArrayList<>();

  @Option(
      names = "--set",
      paramLabel = "KEY=VALUE[,...]",
      description =
          "Attributes of the table, such as SPLIT_ENABLED=false, MAX_FILESIZE=1000000000.")
  private List<String> attributes = new ArrayList<>();

  @Option(
      names = "--splits",
      split = ",",
      paramLabel = "ROW[,ROW...]",
      description = "The first row of each region but the first.")
  private List<String> splits = new ArrayList<>();

  @Option(
      names = "--regions",
      paramLabel = "COUNT",
      description = "So many regions, evenly between --first and --last; at least 3.")
  private int regions;

  @Option(names = "--first", paramLabel = "ROW", description = "First row of the second region.")
  private String first;

  @Option(names = "--last", paramLabel = "ROW", description = "First row of the last region.")
  private String last;

  @Override
  void check() {
    boolean evenly = regions != 0 || first != null || last != null;
    if (evenly && !splits.isEmpty()) {
      throw wrong("give --splits, or --regions with --first and --last, not both");
    }
    if (evenly && (regions < FEWEST_REGIONS || first == null || last == null)) {
      throw wrong("--regions (3 or more), --first and --last belong together");
    }
  }

  @Override
  Answer ask(Connection connection) throws IOException {
    TableDescriptor table = descriptor();
    try (Admin admin = connection.getAdmin()) {
      if (regions > 0) {
        admin.createTable(table, BinaryText.parse(first), BinaryText.parse(last), regions);
      } else if (splits.isEmpty()) {
        admin.createTable(table);
      } else {
        admin.createTable(table, splits.stream().map(BinaryText::parse).toArray(byte[][]::new));
      }
    }
    return Answer.done("created", "table", name);
  }

  private TableDescriptor descriptor() {
    TableDescriptorBuilder table = TableDescriptorBuilder.newBuilder(table(name));
    attributes.forEach(specification -> Attributes.set(table, specification));
    for (String specification : families) {
      byte[] family = Bytes.toBytes(Attributes.familyName(specification));
      table.setColumnFamily(
          Attributes.family(specification, ColumnFamilyDescriptorBuilder.of(family)));
    }
    return table.build();
  }
}
