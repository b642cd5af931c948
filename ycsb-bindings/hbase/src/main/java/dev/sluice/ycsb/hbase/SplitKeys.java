package dev.sluice.ycsb.hbase;

import dev.sluice.ycsb.SettingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Properties;
import java.util.TreeSet;
import java.util.stream.LongStream;
import site.ycsb.Client;
import site.ycsb.Utils;
import site.ycsb.workloads.CoreWorkload;

/**
 * Where to split a table so that its regions get the same number of a workload's records. The keys
 * are YCSB's own, so order, hash and zero-padding are those of the load.
 *
 * <p>Hashed keys are decimal numbers of different lengths: they are uniform as numbers, but not as
 * the text that HBase sorts. So the splits are quantiles of keys, not of a formula.
 */
final class SplitKeys {
  /** Enough for regions that differ by a few per cent, in a blink. */
  private static final int SAMPLE = 100_000;

  /** Key numbers from here on are hashed; their count says nothing about where the hashes are. */
  private static final String HASHED = "hashed";

  private SplitKeys() {}

  /**
   * The first keys of all regions but the first.
   *
   * @param regions number of regions; 1 for no splits
   * @param properties YCSB's recordcount, insertstart, insertcount, insertorder and zeropadding
   * @throws SettingException when a property is wrong, or there are fewer records than regions
   */
  static byte[][] balanced(int regions, Properties properties) {
    if (regions == 1) {
      return new byte[0][];
    }
    String[] keys = sample(properties);
    TreeSet<String> splits = new TreeSet<>();
    for (int region = 1; region < regions; region++) {
      splits.add(keys[(int) ((long) region * keys.length / regions)]);
    }
    if (splits.size() < regions - 1 || keys.length < regions) {
      throw new SettingException(
          HBaseSettings.REGIONS.name()
              + "="
              + regions
              + " is more than there are records ("
              + keys.length
              + "); use fewer regions or a larger recordcount");
    }
    return splits.stream().map(SplitKeys::bytes).toArray(byte[][]::new);
  }

  /** The rule of YCSB's CoreWorkload, whose own method cannot be called from outside of a run. */
  static String key(long number, boolean ordered, long padding) {
    String digits = Long.toString(ordered ? number : Utils.hash(number));
    return "user" + "0".repeat((int) Math.max(0, padding - digits.length())) + digits;
  }

  static byte[] bytes(String key) {
    return key.getBytes(StandardCharsets.UTF_8);
  }

  private static String[] sample(Properties properties) {
    boolean ordered =
        !HASHED.equals(
            properties.getProperty(
                CoreWorkload.INSERT_ORDER_PROPERTY, CoreWorkload.INSERT_ORDER_PROPERTY_DEFAULT));
    long padding =
        number(
            properties,
            CoreWorkload.ZERO_PADDING_PROPERTY,
            CoreWorkload.ZERO_PADDING_PROPERTY_DEFAULT);
    long first = number(properties, "insertstart", "0");
    long count = records(properties, ordered);
    int size = (int) Math.min(count, SAMPLE);
    String[] sample =
        LongStream.range(0, size)
            .mapToObj(i -> key(first + i * count / size, ordered, padding))
            .toArray(String[]::new);
    // As HBase sorts: the keys are ASCII.
    Arrays.sort(sample);
    return sample;
  }

  /** Any number of hashes has the same quantiles, so that hashed keys need no count. */
  private static long records(Properties properties, boolean ordered) {
    if (properties.containsKey(Client.INSERT_COUNT_PROPERTY)) {
      return number(properties, Client.INSERT_COUNT_PROPERTY, "");
    }
    String fallback = ordered ? "" : Integer.toString(SAMPLE);
    return number(properties, Client.RECORD_COUNT_PROPERTY, fallback);
  }

  private static long number(Properties properties, String name, String fallback) {
    String text = properties.getProperty(name, fallback).trim();
    try {
      long value = Long.parseLong(text);
      if (value >= 0) {
        return value;
      }
    } catch (NumberFormatException e) {
      // Reported below, as a negative one is.
    }
    throw new SettingException(
        name + "='" + text + "' is not a whole number from 0 up; the splits depend on it");
  }
}
