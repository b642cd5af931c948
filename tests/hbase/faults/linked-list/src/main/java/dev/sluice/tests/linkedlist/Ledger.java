package dev.sluice.tests.linkedlist;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** All that was acknowledged, and so has to be there: nothing less, and nothing else. */
final class Ledger {
  private final Map<Integer, Chain> chains = new TreeMap<>();

  /**
   * The ledger of these chains.
   *
   * @throws IllegalArgumentException if two have the same number
   */
  Ledger(Collection<Chain> all) {
    for (Chain chain : all) {
      if (chains.put(chain.number(), chain) != null) {
        throw new IllegalArgumentException("chain " + chain.number() + " is there twice");
      }
    }
  }

  /**
   * The ledger of a file with a line for each chain.
   *
   * @throws IllegalArgumentException with the number of the line that is wrong
   */
  static Ledger parse(List<String> lines) {
    List<Chain> chains = new ArrayList<>();
    for (int number = 1; number <= lines.size(); number++) {
      try {
        chains.add(Chain.parse(lines.get(number - 1)));
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException("line " + number + ": " + e.getMessage(), e);
      }
    }
    return new Ledger(chains);
  }

  Collection<Chain> chains() {
    return chains.values();
  }

  /** The chain that a row belongs to. */
  Optional<Chain> chainOf(Node node) {
    return Optional.ofNullable(chains.get(node.chain())).filter(chain -> chain.has(node));
  }
}
