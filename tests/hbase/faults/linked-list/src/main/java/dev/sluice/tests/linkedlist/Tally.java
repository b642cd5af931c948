package dev.sluice.tests.linkedlist;

import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Counts what a scan finds, and compares it with what was acknowledged. Safe for threads. */
final class Tally {
  private static final class Marks {
    private final BitSet defined = new BitSet();
    private final BitSet referenced = new BitSet();
  }

  private final Ledger ledger;
  private final Map<Integer, Marks> marks = new HashMap<>();
  private long damaged;
  private long strange;
  private long repeated;

  Tally(Ledger ledger) {
    this.ledger = ledger;
    ledger.chains().forEach(chain -> marks.put(chain.number(), new Marks()));
  }

  /** Adds a row; what is not there is null. */
  void add(byte[] key, byte[] previousKey, byte[] filler) {
    Optional<Node> node = Node.ofKey(key);
    Optional<Chain> chain = node.flatMap(ledger::chainOf);
    Optional<Node> previous = Node.ofKey(previousKey);
    boolean intact = chain.isPresent() && isIntact(chain.get(), node.get(), previous, filler);
    synchronized (this) {
      previous
          .filter(each -> ledger.chainOf(each).isPresent())
          .ifPresent(each -> marks.get(each.chain()).referenced.set(each.index()));
      if (chain.isEmpty()) {
        strange++;
        return;
      }
      define(node.get());
      damaged += intact ? 0 : 1;
    }
  }

  private static boolean isIntact(Chain chain, Node node, Optional<Node> previous, byte[] filler) {
    return previous.equals(Optional.of(chain.previousOf(node.index())))
        && Arrays.equals(filler, Filler.of(node, chain.fillerBytes()));
  }

  private void define(Node node) {
    BitSet defined = marks.get(node.chain()).defined;
    if (defined.get(node.index())) {
      repeated++;
    }
    defined.set(node.index());
  }

  synchronized Verdict verdict() {
    long rows = 0;
    long referenced = 0;
    long undefined = 0;
    long lost = 0;
    for (Chain chain : ledger.chains()) {
      Marks marked = marks.get(chain.number());
      BitSet both = (BitSet) marked.defined.clone();
      both.and(marked.referenced);
      rows += marked.defined.cardinality();
      referenced += both.cardinality();
      undefined += marked.referenced.cardinality() - both.cardinality();
      lost += chain.rows() - marked.defined.cardinality();
    }
    return new Verdict(
        rows, referenced, rows - referenced, undefined, lost, damaged, strange, repeated);
  }
}
