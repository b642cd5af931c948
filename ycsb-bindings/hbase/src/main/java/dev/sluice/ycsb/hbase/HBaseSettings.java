package dev.sluice.ycsb.hbase;

import dev.sluice.ycsb.Setting;
import dev.sluice.ycsb.SettingException;
import dev.sluice.ycsb.SettingValues;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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
    SettingValues values = new SettingValues(properties);
    HBaseSettings settings =
        new HBaseSettings(
            values.required(QUORUM, "zk1:2181,zk2:2181,zk3:2181"),
            values.text(ZNODE),
            values.text(SITE),
            Families.parse(values.text(FAMILIES)),
            values.list(READ_FAMILIES),
            values.one(DURABILITY, Durability.class),
            values.number(TIMEOUT, 1),
            values.number(SCAN_CACHING, 0),
            values.bool(SCAN_CACHE_BLOCKS),
            values.number(BATCH_SIZE, 1));
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
    return new SettingValues(properties).number(REGIONS, 1);
  }

  static List<String> splitKeys(Properties properties) {
    return new SettingValues(properties).list(SPLIT_KEYS);
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
}
