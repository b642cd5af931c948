package dev.sluice.hbase.offload;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;

/**
 * The settings of a region server that decide what a compaction writes: a worker has those of its
 * own node for everything else, as where HDFS is. Upstream reads them in its compactor, scanners
 * and writers of files.
 */
final class ShippedSettings {
  private static final List<String> PREFIXES =
      List.of(
          "hfile.",
          "io.storefile.",
          "hbase.bytes.per.checksum",
          "hbase.data.umask",
          "hbase.hregion.keep.seqid.",
          "hbase.hregion.compaction.",
          "hbase.hstore.",
          "hbase.io.compress.",
          "hbase.regionserver.majorcompaction.pagecache.",
          "hbase.regionserver.minorcompaction.pagecache.",
          "hbase.storescanner.",
          "hbase.table.max.rowsize",
          "dfs.blocksize",
          "dfs.replication");

  /** Classes of this server, and what is of its memory. */
  private static final List<String> EXCEPT =
      List.of(
          "hbase.hstore.defaultengine.",
          "hbase.hstore.engine.",
          "hfile.block.cache.",
          "hfile.index.block.max.cached");

  /** With them, a store would choose which classes a worker loads. */
  private static final List<String> CLASSES = List.of(".class", ".codec");

  private ShippedSettings() {}

  static Map<String, String> of(Configuration conf) {
    Map<String, String> settings = new TreeMap<>();
    for (Map.Entry<String, String> entry : conf) {
      String value = isShipped(entry.getKey()) ? conf.get(entry.getKey()) : null;
      if (value != null) {
        settings.put(entry.getKey(), value);
      }
    }
    return settings;
  }

  /** Whether a worker takes a setting of others: it asks as well. */
  static boolean isShipped(String key) {
    return PREFIXES.stream().anyMatch(key::startsWith)
        && EXCEPT.stream().noneMatch(key::startsWith)
        && CLASSES.stream().noneMatch(key::endsWith);
  }
}
