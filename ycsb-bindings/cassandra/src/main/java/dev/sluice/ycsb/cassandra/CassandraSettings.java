package dev.sluice.ycsb.cassandra;

import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import dev.sluice.ycsb.Setting;
import dev.sluice.ycsb.SettingException;
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
    return new CassandraSettings(
        addresses(properties),
        datacenter(properties),
        text(properties, KEYSPACE),
        consistency(properties, READ_CONSISTENCY),
        consistency(properties, WRITE_CONSISTENCY),
        number(properties, TIMEOUT),
        number(properties, REPLICAS));
  }

  private static List<String> addresses(Properties properties) {
    String value = text(properties, ADDRESSES);
    if (value.isEmpty()) {
      throw new SettingException(
          ADDRESSES.name()
              + " is not set; add -p "
              + ADDRESSES.name()
              + "=node1:9042,node2:9042, or put it into a file that you name with -P");
    }
    List<String> addresses = List.of(value.split("\\s*,\\s*", -1));
    for (String address : addresses) {
      if (!ADDRESS.matcher(address).matches()) {
        throw new SettingException(
            ADDRESSES.name() + "=" + value + ": '" + address + "' is not HOST:PORT");
      }
    }
    return addresses;
  }

  private static String datacenter(Properties properties) {
    String value = text(properties, DATACENTER);
    if (value.isEmpty() || value.contains("'")) {
      throw new SettingException(
          DATACENTER.name() + "=" + value + " is no datacenter; nodetool status lists them");
    }
    return value;
  }

  private static DefaultConsistencyLevel consistency(Properties properties, Setting setting) {
    String value = text(properties, setting);
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

  private static String text(Properties properties, Setting setting) {
    return properties.getProperty(setting.name(), setting.defaultValue()).trim();
  }

  private static int number(Properties properties, Setting setting) {
    String text = text(properties, setting);
    try {
      int value = Integer.parseInt(text);
      if (value >= 1) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Reported below, as a number out of range is.
    }
    throw new SettingException(setting.name() + "=" + text + " is not a whole number from 1 up");
  }
}
