package dev.sluice.ycsb.hbase;

import dev.sluice.ycsb.SettingException;
import dev.sluice.ycsb.StoreBinding;
import java.io.IOException;
import java.util.List;
import java.util.Properties;
import org.apache.hadoop.hbase.TableExistsException;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.AsyncAdmin;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import site.ycsb.workloads.CoreWorkload;

/** What is done to the table between loads and runs. */
final class TableSteps {
  /** HBase tells nobody when a compaction is done; one has to ask. */
  private static final int ASK_MILLISECONDS = 200;

  private interface Step {
    void run(AsyncAdmin admin, TableName table) throws IOException, InterruptedException;
  }

  private TableSteps() {}

  static void create(Properties properties) throws IOException, InterruptedException {
    HBaseSettings settings = HBaseSettings.of(properties);
    byte[][] splits = splits(properties);
    TableDescriptor descriptor = descriptor(table(properties), settings.families());
    with(
        properties,
        (admin, table) -> {
          try {
            Cluster.await(
                splits.length == 0
                    ? admin.createTable(descriptor)
                    : admin.createTable(descriptor, splits));
          } catch (TableExistsException e) {
            throw new SettingException(
                "the table "
                    + table
                    + " exists; use the step "
                    + StoreBinding.DROP_TABLE
                    + " before");
          }
        });
  }

  static void drop(Properties properties) throws IOException, InterruptedException {
    with(
        properties,
        (admin, table) -> {
          if (!Cluster.await(admin.tableExists(table))) {
            return;
          }
          if (Cluster.await(admin.isTableEnabled(table))) {
            Cluster.await(admin.disableTable(table));
          }
          Cluster.await(admin.deleteTable(table));
        });
  }

  static void flush(Properties properties) throws IOException, InterruptedException {
    with(properties, (admin, table) -> Cluster.await(admin.flush(table)));
  }

  /** A compaction that runs already has files that the new one is to merge, so it goes first. */
  static void majorCompact(Properties properties) throws IOException, InterruptedException {
    with(
        properties,
        (admin, table) -> {
          awaitCompactions(admin, table);
          Cluster.await(admin.majorCompact(table));
          awaitCompactions(admin, table);
        });
  }

  static void startMajorCompact(Properties properties) throws IOException, InterruptedException {
    with(properties, (admin, table) -> Cluster.await(admin.majorCompact(table)));
  }

  private static void awaitCompactions(AsyncAdmin admin, TableName table)
      throws IOException, InterruptedException {
    while (Cluster.await(admin.getCompactionState(table)) != CompactionState.NONE) {
      Thread.sleep(ASK_MILLISECONDS);
    }
  }

  private static void with(Properties properties, Step step)
      throws IOException, InterruptedException {
    TableName table = table(properties);
    AsyncConnection connection = connect(HBaseSettings.of(properties));
    try {
      step.run(connection.getAdmin(), table);
    } finally {
      Cluster.close(connection);
    }
  }

  private static AsyncConnection connect(HBaseSettings settings) {
    try {
      return Cluster.connect(settings);
    } catch (IOException e) {
      throw new SettingException(e.getMessage());
    }
  }

  private static TableDescriptor descriptor(TableName table, Families families) {
    TableDescriptorBuilder builder = TableDescriptorBuilder.newBuilder(table);
    families
        .names()
        .forEach(name -> builder.setColumnFamily(ColumnFamilyDescriptorBuilder.of(name)));
    return builder.build();
  }

  private static byte[][] splits(Properties properties) {
    List<String> named = HBaseSettings.splitKeys(properties);
    int regions = HBaseSettings.regions(properties);
    if (named.isEmpty()) {
      return SplitKeys.balanced(regions, properties);
    }
    if (regions != 1) {
      throw new SettingException(
          "set either " + HBaseSettings.REGIONS.name() + " or " + HBaseSettings.SPLIT_KEYS.name());
    }
    return named.stream().map(SplitKeys::bytes).toArray(byte[][]::new);
  }

  private static TableName table(Properties properties) {
    String name =
        properties.getProperty(
            CoreWorkload.TABLENAME_PROPERTY, CoreWorkload.TABLENAME_PROPERTY_DEFAULT);
    return Cluster.tableName(name);
  }
}
