package dev.sluice.ycsb.ignite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.ycsb.SettingException;
import dev.sluice.ycsb.ignite.KeyGroups.Group;
import dev.sluice.ycsb.ignite.Placement.Order;
import dev.sluice.ycsb.ignite.Placement.Shares;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Shares of nodes: what makes a load even or skewed. */
class PlacementTest {
  /** As Ignite has spread 24 partitions over three nodes. */
  private static SortedMap<String, List<Integer>> nodes() {
    SortedMap<String, List<Integer>> nodes = new TreeMap<>();
    nodes.put("ig1", IntStream.range(0, 4).boxed().toList());
    nodes.put("ig2", IntStream.range(4, 16).boxed().toList());
    nodes.put("ig3", IntStream.range(16, 24).boxed().toList());
    return nodes;
  }

  private static Map<String, Double> byNode(List<Group> groups) {
    Map<String, Double> found = new HashMap<>();
    groups.forEach(group -> found.merge(group.node(), group.share(), Double::sum));
    return found;
  }

  @ParameterizedTest
  @CsvSource({
    "UNIFORM, CROWDED, 0.333, 0.333, 0.333",
    "UNIFORM, BALANCED, 0.333, 0.333, 0.333",
    "ZIPFIAN, CROWDED, 0.668, 0.206, 0.126",
    "ZIPFIAN, BALANCED, 0.333, 0.334, 0.333",
  })
  void nodesHaveTheirShares(Shares shares, Order order, double first, double second, double third) {
    Map<String, Double> found = byNode(Placement.of(nodes(), shares, order));
    assertEquals(first, found.get("ig1"), 0.015);
    assertEquals(second, found.get("ig2"), 0.015);
    assertEquals(third, found.get("ig3"), 0.015);
  }

  @ParameterizedTest
  @CsvSource({"UNIFORM, CROWDED", "ZIPFIAN, CROWDED", "ZIPFIAN, BALANCED"})
  void groupsAreOfTheirNodesAndEachIsOne(Shares shares, Order order) {
    List<Group> groups = Placement.of(nodes(), shares, order);
    assertEquals(12, groups.stream().map(Group::number).distinct().count());
    groups.forEach(group -> assertTrue(nodes().get(group.node()).contains(group.number())));
  }

  @Test
  void aNodeWithoutPartitionsIsRefused() {
    SortedMap<String, List<Integer>> nodes = nodes();
    nodes.put("ig4", List.of());
    String message =
        assertThrows(
                SettingException.class, () -> Placement.of(nodes, Shares.UNIFORM, Order.CROWDED))
            .getMessage();
    assertTrue(message.contains("ignite.partitions"), message);
  }

  @Test
  void keysAreSpreadByTheShares() {
    List<Group> groups = Placement.of(nodes(), Shares.ZIPFIAN, Order.CROWDED);
    KeyGroups of = new KeyGroups(groups);
    Map<Integer, Integer> counts = new HashMap<>();
    int keys = 100_000;
    for (int i = 0; i < keys; i++) {
      counts.merge(of.of("user" + i * 7919L), 1, Integer::sum);
    }
    for (Group group : groups) {
      assertEquals(group.share(), counts.get(group.number()) / (double) keys, 0.01);
    }
  }
}
