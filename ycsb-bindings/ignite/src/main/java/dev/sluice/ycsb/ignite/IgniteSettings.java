package dev.sluice.ycsb.ignite;

import dev.sluice.ycsb.Setting;
import dev.sluice.ycsb.SettingException;
import dev.sluice.ycsb.SettingValues;
import java.util.List;
import java.util.Properties;
import java.util.regex.Pattern;

/** How to reach the cluster, and where it is to keep the table. */
record IgniteSettings(
    List<String> addresses,
    int timeoutMilliseconds,
    int batchSize,
    boolean upsert,
    String profile,
    int partitions,
    int replicas,
    Placement.Shares shares,
    Placement.Order placement) {
  static final Setting ADDRESSES =
      Setting.of(
          "ignite.addresses",
          "",
          "client connectors of nodes, HOST:PORT,HOST:PORT; must be set; all nodes: each operation"
              + " goes to the node that has its key");
  static final Setting TIMEOUT =
      Setting.of(
          "ignite.timeoutmilliseconds", "60000", "of a connection and of each request; 0 = none");
  private static final Setting BATCH_SIZE =
      Setting.of("ignite.batchsize", "1", "inserts that are sent together");
  private static final Setting UPSERT =
      Setting.of("ignite.upsert", "false", "an insert of a key that exists overwrites it");
  static final Setting PROFILE =
      Setting.of(
          "ignite.profile",
          "rocks",
          "create-table: storage profile of the nodes, of engine rocksdb for tables in RocksDB");
  static final Setting PARTITIONS =
      Setting.of("ignite.partitions", "8", "create-table: partitions of the table");
  private static final Setting REPLICAS =
      Setting.of("ignite.replicas", "1", "create-table: nodes that keep each partition");
  static final Setting SHARES =
      Setting.of(
          "ignite.partitionshares",
          "hash",
          "how keys are spread over partitions: hash (by Ignite itself), uniform or zipfian; the"
              + " same for create-table, loads and runs");
  private static final Setting PLACEMENT =
      Setting.of(
          "ignite.placement",
          "crowded",
          "create-table with uniform or zipfian: crowded has the largest partitions on one node,"
              + " balanced gives each node as much");

  private static final Pattern ADDRESS = Pattern.compile("[^\\s:]+(:\\d+)?|\\[[^\\s\\]]+](:\\d+)?");

  static List<Setting> all() {
    return List.of(
        ADDRESSES, TIMEOUT, BATCH_SIZE, UPSERT, PROFILE, PARTITIONS, REPLICAS, SHARES, PLACEMENT);
  }

  /**
   * Reads the settings.
   *
   * @throws SettingException for a missing or wrong one
   */
  static IgniteSettings of(Properties properties) {
    SettingValues values = new SettingValues(properties);
    IgniteSettings settings = read(values);
    if (settings.shares != Placement.Shares.HASH && settings.replicas > 1) {
      throw new SettingException(
          SHARES.name()
              + "="
              + values.text(SHARES)
              + " is for partitions that one node has each; use "
              + REPLICAS.name()
              + "=1");
    }
    return settings;
  }

  private static IgniteSettings read(SettingValues values) {
    return new IgniteSettings(
        addresses(values),
        values.number(TIMEOUT, 0),
        values.number(BATCH_SIZE, 1),
        values.bool(UPSERT),
        profile(values),
        values.number(PARTITIONS, 1),
        values.number(REPLICAS, 1),
        values.one(SHARES, Placement.Shares.class),
        values.one(PLACEMENT, Placement.Order.class));
  }

  private static List<String> addresses(SettingValues values) {
    String value = values.required(ADDRESSES, "node1:10800,node2:10800,node3:10800");
    List<String> addresses = List.of(value.split("\\s*,\\s*", -1));
    for (String address : addresses) {
      if (!ADDRESS.matcher(address).matches()) {
        throw new SettingException(
            ADDRESSES.name() + "=" + value + ": '" + address + "' is not HOST:PORT");
      }
    }
    return addresses;
  }

  private static String profile(SettingValues values) {
    String value = values.text(PROFILE);
    if (value.isEmpty() || value.contains("'")) {
      throw new SettingException(
          PROFILE.name()
              + "="
              + value
              + " is not a storage profile; use a name that storage.profiles in the nodes'"
              + " ignite-config.conf has");
    }
    return value;
  }
}
