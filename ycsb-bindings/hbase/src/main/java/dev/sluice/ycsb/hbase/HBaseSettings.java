package dev.sluice.ycsb.hbase;

import dev.sluice.ycsb.Setting;
import dev.sluice.ycsb.SettingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Durability;

/** How to reach the cluster, and how to talk to it. */
record HBaseSettings(
    String quorum,
    String znode,
    String site,
    Families families,
    List<String> readFamilies,
    Durability durability,
    int timeoutMilliseconds,
    int scanCaching,
    boolean scanCacheBlocks,
    int batchSize) {
  static final Setting QUORUM =
      Setting.of(
          "hbase.zookeeper.quorum", "", "ZooKeeper servers HOST:PORT,HOST:PORT; must be set");
  private static final Setting ZNODE =
      Setting.of("hbase.znode", "/hbase", "where the cluster is in ZooKeeper");
  private static final Setting SITE =
      Setting.of("hbase.site", "", "an hbase-site.xml to start from, for what has no setting here");
  static final Setting FAMILIES =
      Setting.of(
          "hbase.families",
          "f",
          "column families and their fields, such as hot:field0+field1,cold; one without a list"
              + " has the rest");
  private static final Setting READ_FAMILIES =
      Setting.of(
          "hbase.readfamilies", "", "families that a read or scan of all fields takes; else all");
  private static final Setting DURABILITY =
      Setting.of(
          "hbase.durability",
          "use_default",
          "of writes: skip_wal, async_wal, sync_wal, fsync_wal, or what the table says");
  private static final Setting TIMEOUT =
      Setting.of(
          "hbase.timeoutmilliseconds",
          "60000",
          "of an operation with all that HBase's client tries again, and of each call");
  private static final Setting SCAN_CACHING =
      Setting.of(
          "hbase.scancaching", "0", "records of a scan per call; 0 = all that the scan asks for");
  private static final Setting SCAN_CACHE_BLOCKS =
      Setting.of("hbase.scancacheblocks", "true", "scans leave their blocks in the block cache");
  private static final Setting BATCH_SIZE =
      Setting.of("hbase.batchsize", "1", "inserts that are sent together");
  static final Setting REGIONS =
      Setting.of(
          "hbase.regions",
          "1",
          "create-table: regions, split so that each gets the same number of records");
  static final Setting SPLIT_KEYS =
      Setting.of("hbase.splitkeys", "", "create-table: first keys of all regions but the first");

  static List<Setting> all() {
    return List.of(
        QUORUM,
        ZNODE,
        SITE,
        FAMILIES,
        READ_FAMILIES,
        DURABILITY,
        TIMEOUT,
        SCAN_CACHING,
        SCAN_CACHE_BLOCKS,
        BATCH_SIZE,
        REGIONS,
        SPLIT_KEYS);
  }

  /**
   * Reads the settings.
   *
   * @throws SettingException for a missing or wrong one
   */
  static HBaseSettings of(Properties properties) {
    HBaseSettings settings =
        new HBaseSettings(
            quorum(properties),
            text(properties, ZNODE),
            text(properties, SITE),
            Families.parse(text(properties, FAMILIES)),
            list(properties, READ_FAMILIES),
            durability(properties),
            number(properties, TIMEOUT, 1),
            number(properties, SCAN_CACHING, 0),
            bool(properties, SCAN_CACHE_BLOCKS),
            number(properties, BATCH_SIZE, 1));
    settings.check();
    return settings;
  }

  /** The same for HBase's client. */
  Configuration configuration() {
    Configuration configuration = HBaseConfiguration.create();
    if (!site.isEmpty()) {
      configuration.addResource(new org.apache.hadoop.fs.Path(site));
    }
    configuration.set(HConstants.ZOOKEEPER_QUORUM, quorum);
    configuration.set(HConstants.ZOOKEEPER_ZNODE_PARENT, znode);
    for (String name :
        List.of(
            HConstants.HBASE_RPC_TIMEOUT_KEY,
            HConstants.HBASE_CLIENT_OPERATION_TIMEOUT,
            HConstants.HBASE_CLIENT_META_OPERATION_TIMEOUT,
            HConstants.HBASE_CLIENT_SCANNER_TIMEOUT_PERIOD)) {
      configuration.setInt(name, timeoutMilliseconds);
    }
    // The time alone is the limit.
    configuration.setInt(HConstants.HBASE_CLIENT_RETRIES_NUMBER, Integer.MAX_VALUE);
    return configuration;
  }

  /** The regions to make, and the splits if the user named them. */
  static int regions(Properties properties) {
    return number(properties, REGIONS, 1);
  }

  static List<String> splitKeys(Properties properties) {
    return list(properties, SPLIT_KEYS);
  }

  private void check() {
    if (!znode.startsWith("/")) {
      throw new SettingException(ZNODE.name() + "=" + znode + " does not start with /");
    }
    if (!site.isEmpty() && !Files.isReadable(Path.of(site))) {
      throw new SettingException(SITE.name() + "=" + site + " cannot be read");
    }
    for (String family : readFamilies) {
      if (!families.names().contains(family)) {
        throw new SettingException(
            READ_FAMILIES.name() + "=" + family + " is none of " + FAMILIES.name());
      }
    }
  }

  private static String quorum(Properties properties) {
    String value = text(properties, QUORUM);
    if (value.isEmpty()) {
      throw new SettingException(
          QUORUM.name()
              + " is not set; add -p "
              + QUORUM.name()
              + "=zk1:2181,zk2:2181,zk3:2181, or put it into a file that you name with -P");
    }
    return value;
  }

  private static Durability durability(Properties properties) {
    String value = text(properties, DURABILITY);
    return Arrays.stream(Durability.values())
        .filter(each -> each.name().toLowerCase(Locale.ROOT).equals(value))
        .findFirst()
        .orElseThrow(
            () ->
                new SettingException(
                    DURABILITY.name()
                        + "="
                        + value
                        + "; use skip_wal, async_wal, sync_wal, fsync_wal or use_default"));
  }

  private static String text(Properties properties, Setting setting) {
    return properties.getProperty(setting.name(), setting.defaultValue()).trim();
  }

  private static List<String> list(Properties properties, Setting setting) {
    String value = text(properties, setting);
    return value.isEmpty() ? List.of() : List.of(value.split("\\s*,\\s*", -1));
  }

  private static int number(Properties properties, Setting setting, int least) {
    String text = text(properties, setting);
    try {
      int value = Integer.parseInt(text);
      if (value >= least) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Reported below, as a number out of range is.
    }
    throw new SettingException(
        setting.name() + "=" + text + " is not a whole number from " + least + " up");
  }

  private static boolean bool(Properties properties, Setting setting) {
    String text = text(properties, setting);
    return switch (text) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new SettingException(setting.name() + "=" + text + "; use true or false");
    };
  }
}
