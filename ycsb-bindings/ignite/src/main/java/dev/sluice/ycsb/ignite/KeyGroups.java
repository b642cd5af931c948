package dev.sluice.ycsb.ignite;

import dev.sluice.ycsb.Identifier;
import java.util.Arrays;
import java.util.List;
import org.apache.ignite.table.Tuple;

/**
 * Which group a key belongs to, by its hash and the groups' shares of the keys. Ignite keeps the
 * rows of a group in one partition.
 */
final class KeyGroups {
  /** The column of the group. */
  static final String COLUMN = "ycsb_group";

  /** Of a table whose keys are spread by Ignite's own hash, which has no such column. */
  static final KeyGroups NONE = new KeyGroups(List.of());

  private static final String QUOTED_COLUMN = Identifier.quote(COLUMN);

  /** Of the golden ratio: what it multiplies is spread evenly in the upper bits. */
  private static final long MULTIPLIER = 0x9E3779B97F4A7C15L;

  private static final int FRACTION_BITS = 53;

  /** A group, the node that has its partition, and its share of the keys. */
  record Group(int number, String node, double share) {}

  private final int[] numbers;

  /** Sums of the shares up to each group; the last is what all of them add up to. */
  private final double[] bounds;

  KeyGroups(List<Group> groups) {
    numbers = groups.stream().mapToInt(Group::number).toArray();
    bounds = groups.stream().mapToDouble(Group::share).toArray();
    Arrays.parallelPrefix(bounds, Double::sum);
  }

  boolean isEmpty() {
    return numbers.length == 0;
  }

  /** Number of the key's group, always the same. */
  int of(String key) {
    double point = fraction(key) * bounds[bounds.length - 1];
    int found = Arrays.binarySearch(bounds, point);
    // What is not found is told by where it would be: before the first larger bound.
    int index = found < 0 ? -found - 1 : found + 1;
    return numbers[Math.min(index, numbers.length - 1)];
  }

  /** The row with its group, where the table has groups. */
  Tuple complete(String key, Tuple row) {
    return isEmpty() ? row : row.set(QUOTED_COLUMN, of(key));
  }

  private static double fraction(String key) {
    long spread = key.hashCode() * MULTIPLIER;
    return (spread >>> (Long.SIZE - FRACTION_BITS)) * 0x1.0p-53;
  }
}
