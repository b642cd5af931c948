package dev.sluice.ycsb.ignite;

import dev.sluice.ycsb.SettingException;
import dev.sluice.ycsb.ignite.KeyGroups.Group;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.stream.IntStream;
import site.ycsb.generator.ZipfianGenerator;

/** Which groups have which share of the keys, and on which nodes these groups are. */
final class Placement {
  /** How large the shares are. */
  enum Shares {
    /** There are none: each key by Ignite's own hash. */
    HASH,
    UNIFORM,
    /** As YCSB has it of keys: the share of rank r is that of rank 1 by r to the power of 0.99. */
    ZIPFIAN
  }

  /** Where the largest shares are. */
  enum Order {
    /** On the first node by name, the next ones on the second, and so on. */
    CROWDED,
    /** Each, the largest first, on the node that has the least so far. */
    BALANCED
  }

  private Placement() {}

  /**
   * Gives shares to groups.
   *
   * @param available numbers of groups by the node that has them, each in a partition of its own
   * @throws SettingException when a node has none
   */
  static List<Group> of(SortedMap<String, List<Integer>> available, Shares shares, Order order) {
    int each = available.values().stream().mapToInt(List::size).min().orElse(0);
    if (each == 0) {
      throw new SettingException(
          "a node has no partition of the table; raise "
              + IgniteSettings.PARTITIONS.name()
              + ", so that each has some");
    }
    List<Double> sizes = sizes(each * available.size(), shares);
    List<String> nodes =
        order == Order.CROWDED ? inTurns(available, each) : balanced(available, sizes);
    Map<String, Integer> taken = new LinkedHashMap<>();
    List<Group> groups = new ArrayList<>();
    for (int rank = 0; rank < sizes.size(); rank++) {
      String node = nodes.get(rank);
      int number = available.get(node).get(taken.merge(node, 1, Integer::sum) - 1);
      groups.add(new Group(number, node, sizes.get(rank)));
    }
    return groups;
  }

  /** The largest first; together 1. */
  private static List<Double> sizes(int count, Shares shares) {
    double exponent = shares == Shares.ZIPFIAN ? ZipfianGenerator.ZIPFIAN_CONSTANT : 0;
    double[] weights =
        IntStream.rangeClosed(1, count).mapToDouble(rank -> Math.pow(rank, -exponent)).toArray();
    double sum = IntStream.range(0, count).mapToDouble(i -> weights[i]).sum();
    return IntStream.range(0, count).mapToObj(i -> weights[i] / sum).toList();
  }

  private static List<String> inTurns(SortedMap<String, List<Integer>> available, int each) {
    List<String> nodes = new ArrayList<>();
    available.keySet().forEach(node -> IntStream.range(0, each).forEach(i -> nodes.add(node)));
    return nodes;
  }

  private static List<String> balanced(
      SortedMap<String, List<Integer>> available, List<Double> sizes) {
    Map<String, Double> load = new LinkedHashMap<>();
    Map<String, Integer> free = new LinkedHashMap<>();
    available.forEach((node, groups) -> load.put(node, 0.0));
    available.forEach((node, groups) -> free.put(node, groups.size()));
    List<String> nodes = new ArrayList<>();
    for (double size : sizes) {
      String node =
          load.keySet().stream()
              .filter(each -> free.get(each) > 0)
              .min(Comparator.comparing(load::get))
              .orElseThrow();
      load.merge(node, size, Double::sum);
      free.merge(node, -1, Integer::sum);
      nodes.add(node);
    }
    return nodes;
  }
}
