package dev.sluice.hbase.commands;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.MemoryCompactionPolicy;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.io.encoding.IndexBlockEncoding;
import org.apache.hadoop.hbase.regionserver.BloomType;

/**
 * Attributes of tables and column families as text. HBase itself keeps a misspelt name in silence,
 * and takes a time to live that it does not understand for 0, by which all cells expire.
 */
final class Attributes {
  /** Before a key of hbase-site.xml that is to hold for the table or family alone. */
  static final String CONFIGURATION = "conf.";

  private static final UnaryOperator<String> ANY = value -> value;

  /** By name: what makes the text that is kept of the one that is given, or throws. */
  private static final Map<String, UnaryOperator<String>> OF_FAMILIES = new TreeMap<>();

  private static final Map<String, UnaryOperator<String>> OF_TABLES = new TreeMap<>();

  static {
    for (String name :
        new String[] {
          ColumnFamilyDescriptorBuilder.BLOCKCACHE,
          ColumnFamilyDescriptorBuilder.CACHE_BLOOMS_ON_WRITE,
          ColumnFamilyDescriptorBuilder.CACHE_DATA_ON_WRITE,
          ColumnFamilyDescriptorBuilder.CACHE_INDEX_ON_WRITE,
          ColumnFamilyDescriptorBuilder.EVICT_BLOCKS_ON_CLOSE,
          ColumnFamilyDescriptorBuilder.IN_MEMORY,
          ColumnFamilyDescriptorBuilder.IS_MOB,
          ColumnFamilyDescriptorBuilder.NEW_VERSION_BEHAVIOR,
          ColumnFamilyDescriptorBuilder.PREFETCH_BLOCKS_ON_OPEN
        }) {
      OF_FAMILIES.put(name, Attributes::truth);
    }
    for (String name :
        new String[] {
          ColumnFamilyDescriptorBuilder.BLOCKSIZE,
          ColumnFamilyDescriptorBuilder.DFS_REPLICATION,
          ColumnFamilyDescriptorBuilder.MAX_VERSIONS,
          ColumnFamilyDescriptorBuilder.MIN_VERSIONS,
          ColumnFamilyDescriptorBuilder.MOB_THRESHOLD,
          ColumnFamilyDescriptorBuilder.REPLICATION_SCOPE
        }) {
      OF_FAMILIES.put(name, Attributes::number);
    }
    for (String name :
        new String[] {
          ColumnFamilyDescriptorBuilder.COMPRESSION,
          ColumnFamilyDescriptorBuilder.COMPRESSION_COMPACT,
          ColumnFamilyDescriptorBuilder.COMPRESSION_COMPACT_MAJOR,
          ColumnFamilyDescriptorBuilder.COMPRESSION_COMPACT_MINOR
        }) {
      OF_FAMILIES.put(name, oneOf(Compression.Algorithm.class));
    }
    OF_FAMILIES.put(ColumnFamilyDescriptorBuilder.BLOOMFILTER, oneOf(BloomType.class));
    OF_FAMILIES.put(
        ColumnFamilyDescriptorBuilder.DATA_BLOCK_ENCODING, oneOf(DataBlockEncoding.class));
    OF_FAMILIES.put(
        ColumnFamilyDescriptorBuilder.INDEX_BLOCK_ENCODING, oneOf(IndexBlockEncoding.class));
    OF_FAMILIES.put(
        ColumnFamilyDescriptorBuilder.IN_MEMORY_COMPACTION, oneOf(MemoryCompactionPolicy.class));
    OF_FAMILIES.put(
        ColumnFamilyDescriptorBuilder.KEEP_DELETED_CELLS, oneOf(KeepDeletedCells.class));
    OF_FAMILIES.put(ColumnFamilyDescriptorBuilder.STORAGE_POLICY, ANY);
    OF_FAMILIES.put(ColumnFamilyDescriptorBuilder.TTL, Attributes::seconds);

    for (String name :
        new String[] {
          TableDescriptorBuilder.COMPACTION_ENABLED,
          TableDescriptorBuilder.MERGE_ENABLED,
          TableDescriptorBuilder.NORMALIZATION_ENABLED,
          TableDescriptorBuilder.READONLY,
          TableDescriptorBuilder.SPLIT_ENABLED
        }) {
      OF_TABLES.put(name, Attributes::truth);
    }
    for (String name :
        new String[] {
          TableDescriptorBuilder.MAX_FILESIZE,
          TableDescriptorBuilder.MEMSTORE_FLUSHSIZE,
          TableDescriptorBuilder.PRIORITY,
          TableDescriptorBuilder.REGION_REPLICATION
        }) {
      OF_TABLES.put(name, Attributes::number);
    }
    OF_TABLES.put(TableDescriptorBuilder.DURABILITY, oneOf(Durability.class));
    OF_TABLES.put(TableDescriptorBuilder.FLUSH_POLICY, ANY);
    OF_TABLES.put(TableDescriptorBuilder.SPLIT_POLICY, ANY);
  }

  private Attributes() {}

  /** The name of a family given as NAME[,KEY=VALUE...]. */
  static String familyName(String specification) {
    int comma = specification.indexOf(',');
    String name = comma < 0 ? specification : specification.substring(0, comma);
    if (name.isEmpty() || name.contains("=") || name.contains(":")) {
      throw new CommandFailure(
          "'" + specification + "' does not begin with a family's name",
          "write NAME or NAME,KEY=VALUE,..., as in cf,VERSIONS=3,TTL=86400");
    }
    return name;
  }

  /** A family given as NAME[,KEY=VALUE...], on top of what it is now. */
  static ColumnFamilyDescriptor family(String specification, ColumnFamilyDescriptor now) {
    ColumnFamilyDescriptorBuilder family = ColumnFamilyDescriptorBuilder.newBuilder(now);
    String rest = specification.substring(familyName(specification).length());
    if (!rest.isEmpty()) {
      pairs(rest.substring(1)).forEach((key, value) -> set(family, key, value));
    }
    return family.build();
  }

  /** Sets attributes of a table given as KEY=VALUE[,KEY=VALUE...]. */
  static void set(TableDescriptorBuilder table, String specification) {
    pairs(specification)
        .forEach((key, value) -> table.setValue(keyOfTable(key), kept(key, value, OF_TABLES)));
  }

  /** The name under which HBase keeps an attribute of a table. */
  static String keyOfTable(String key) {
    return key.startsWith(CONFIGURATION)
        ? key.substring(CONFIGURATION.length())
        : known(key, OF_TABLES);
  }

  private static void set(ColumnFamilyDescriptorBuilder family, String key, String value) {
    if (key.startsWith(CONFIGURATION)) {
      family.setConfiguration(key.substring(CONFIGURATION.length()), value);
    } else {
      family.setValue(known(key, OF_FAMILIES), kept(key, value, OF_FAMILIES));
    }
  }

  private static String known(String key, Map<String, UnaryOperator<String>> attributes) {
    String name = key.toUpperCase(Locale.ROOT);
    if (attributes.containsKey(name)) {
      return name;
    }
    throw new CommandFailure(
        "'" + key + "' is no attribute",
        "choose one of "
            + String.join(", ", attributes.keySet())
            + ", or conf.KEY for a key of hbase-site.xml");
  }

  private static String kept(
      String key, String value, Map<String, UnaryOperator<String>> attributes) {
    if (key.startsWith(CONFIGURATION)) {
      return value;
    }
    try {
      return attributes.get(known(key, attributes)).apply(value);
    } catch (IllegalArgumentException e) {
      throw new CommandFailure(key + " cannot be '" + value + "'", e.getMessage());
    }
  }

  private static Map<String, String> pairs(String text) {
    Map<String, String> pairs = new LinkedHashMap<>();
    for (String pair : text.split(",", -1)) {
      int equals = pair.indexOf('=');
      if (equals <= 0) {
        throw new CommandFailure("'" + pair + "' is no KEY=VALUE", "write it so, as in VERSIONS=3");
      }
      pairs.put(pair.substring(0, equals), pair.substring(equals + 1));
    }
    return pairs;
  }

  private static String number(String value) {
    if (!value.matches("\\d{1,18}")) {
      throw new IllegalArgumentException("give a whole number");
    }
    return value;
  }

  private static String truth(String value) {
    if (!value.equals("true") && !value.equals("false")) {
      throw new IllegalArgumentException("give true or false");
    }
    return value;
  }

  private static String seconds(String value) {
    if (value.equalsIgnoreCase("FOREVER")) {
      return Integer.toString(HConstants.FOREVER);
    }
    if (!value.matches("[1-9]\\d{0,8}")) {
      throw new IllegalArgumentException("give seconds, from 1 to 999999999, or FOREVER");
    }
    return value;
  }

  private static <E extends Enum<E>> UnaryOperator<String> oneOf(Class<E> choices) {
    return value -> {
      for (E choice : choices.getEnumConstants()) {
        if (choice.name().equalsIgnoreCase(value)) {
          return choice.name();
        }
      }
      throw new IllegalArgumentException(
          "choose one of " + Arrays.toString(choices.getEnumConstants()));
    };
  }
}
