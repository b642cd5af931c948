package dev.sluice.ycsb.cassandra;

import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import dev.sluice.ycsb.Setting;
import dev.sluice.ycsb.SettingException;
import dev.sluice.ycsb.SettingValues;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.regex.Pattern;

/** How to reach the cluster, and how it is to keep the table. */
record CassandraSettings(
    List<String> addresses,
    String datacenter,
    String keyspace,
    DefaultConsistencyLevel readConsistency,
    DefaultConsistencyLevel writeConsistency,
    int timeoutMilliseconds,
    int replicas) {
  static final Setting ADDRESSES =
      Setting.of(
          "cassandra.addresses",
          "",
          "native transports of nodes, HOST:PORT,HOST:PORT; must be set; one is enough, the driver"
              + " learns of the others");
  static final Setting DATACENTER =
      Setting.of(
          "cassandra.datacenter", "datacenter1", "whose nodes get the requests; nodetool status");
  private static final Setting KEYSPACE =
      Setting.of("cassandra.keyspace", "ycsb", "where the table is");
  private static final Setting READ_CONSISTENCY =
      Setting.of(
          "cassandra.readconsistency", "QUORUM", "how many replicas answer a read or a scan");
  private static final Setting WRITE_CONSISTENCY =
      Setting.of("cassandra.writeconsistency", "QUORUM", "how many replicas acknowledge a write");
  static final Setting TIMEOUT =
      Setting.of("cassandra.timeoutmilliseconds", "60000", "of each request");
  private static final Setting REPLICAS =
      Setting.of(
          "cassandra.replicas",
          "1",
          "create-table: nodes that keep each record, in a new keyspace");

  private static final Pattern ADDRESS = Pattern.compile("[^\\s:]+:\\d+|\\[[^\\s\\]]+]:\\d+");

  static List<Setting> all() {
    return List.of(
        ADDRESSES, DATACENTER, KEYSPACE, READ_CONSISTENCY, WRITE_CONSISTENCY, TIMEOUT, REPLICAS);
  }

  /**
   * Reads the settings.
   *
   * @throws SettingException for a missing or wrong one
   */
  static CassandraSettings of(Properties properties) {
    SettingValues values = new SettingValues(properties);
    return new CassandraSettings(
        addresses(values),
        datacenter(values),
        values.text(KEYSPACE),
        consistency(values, READ_CONSISTENCY),
        consistency(values, WRITE_CONSISTENCY),
        values.number(TIMEOUT, 1),
        values.number(REPLICAS, 1));
  }

  private static List<String> addresses(SettingValues values) {
    String value = values.required(ADDRESSES, "node1:9042,node2:9042");
    List<String> addresses = List.of(value.split("\\s*,\\s*", -1));
    for (String address : addresses) {
      if (!ADDRESS.matcher(address).matches()) {
        throw new SettingException(
            ADDRESSES.name() + "=" + value + ": '" + address + "' is not HOST:PORT");
      }
    }
    return addresses;
  }

  private static String datacenter(SettingValues values) {
    String value = values.text(DATACENTER);
    if (value.isEmpty() || value.contains("'")) {
      throw new SettingException(
          DATACENTER.name() + "=" + value + " is no datacenter; nodetool status lists them");
    }
    return value;
  }

  private static DefaultConsistencyLevel consistency(SettingValues values, Setting setting) {
    String value = values.text(setting);
    try {
      return DefaultConsistencyLevel.valueOf(value.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      throw new SettingException(
          setting.name()
              + "="
              + value
              + " is no consistency level; use one of "
              + Arrays.toString(DefaultConsistencyLevel.values()));
    }
  }
}
