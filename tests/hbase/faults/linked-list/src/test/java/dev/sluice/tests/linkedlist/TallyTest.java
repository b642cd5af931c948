package dev.sluice.tests.linkedlist;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Each kind of loss and damage shows, and exactly as what it is. */
class TallyTest {
  private static final int ROWS = 40;
  private static final Chain ONE = new Chain(1, ROWS, 10, 16);
  private static final Chain OTHER = new Chain(2, ROWS, 10, 16);
  private static final Node SOME = new Node(1, 17);

  private StoredRows stored;

  @BeforeEach
  void write() {
    stored = written();
  }

  private static StoredRows written() {
    StoredRows rows = new StoredRows();
    for (Chain chain : List.of(ONE, OTHER)) {
      for (int index = 0; index < chain.rows(); index++) {
        Node node = new Node(chain.number(), index);
        rows.replace(node, chain.previousOf(index).key(), Filler.of(node, chain.fillerBytes()));
      }
    }
    return rows;
  }

  private static Ledger ledger() {
    return new Ledger(List.of(ONE, OTHER));
  }

  private Verdict verdict() {
    return stored.verdict(ledger());
  }

  @Test
  void allIsThere() {
    assertEquals(new Verdict(80, 80, 0, 0, 0, 0, 0, 0), verdict());
  }

  @Property
  void aLostRowIsUndefinedAndTheOneItReferredToUnreferenced(
      @ForAll @IntRange(min = 0, max = ROWS - 1) int index) {
    StoredRows rows = written();
    rows.lose(new Node(1, index));
    assertEquals(new Verdict(79, 78, 1, 1, 1, 0, 0, 0), rows.verdict(ledger()));
  }

  @Test
  void aLostChainIsLostThoughNothingIsUndefined() {
    for (int index = 0; index < ROWS; index++) {
      stored.lose(new Node(1, index));
    }
    assertEquals(new Verdict(40, 40, 0, 0, 40, 0, 0, 0), verdict());
  }

  @Test
  void anotherReferenceIsDamage() {
    byte[] filler = stored.find(SOME).orElseThrow().filler();
    stored.replace(SOME, new Node(1, 3).key(), filler);
    assertEquals(new Verdict(80, 79, 1, 0, 0, 1, 0, 0), verdict());
  }

  @Test
  void aLostReferenceIsDamage() {
    stored.replace(SOME, null, stored.find(SOME).orElseThrow().filler());
    assertEquals(new Verdict(80, 79, 1, 0, 0, 1, 0, 0), verdict());
  }

  @Test
  void otherContentIsDamage() {
    StoredRows.Cells cells = stored.find(SOME).orElseThrow();
    byte[] filler = cells.filler().clone();
    filler[3] ^= 1;
    stored.replace(SOME, cells.previous(), filler);
    assertEquals(new Verdict(80, 80, 0, 0, 0, 1, 0, 0), verdict());
  }

  @Test
  void contentThatWasCutIsDamage() {
    StoredRows.Cells cells = stored.find(SOME).orElseThrow();
    stored.replace(SOME, cells.previous(), Arrays.copyOf(cells.filler(), 15));
    assertEquals(1, verdict().damaged());
  }

  @Test
  void rowsThatWereNotAcknowledgedAreStrange() {
    stored.replace(new Node(1, ROWS), new Node(1, 30).key(), new byte[16]);
    stored.replace(new Node(3, 0), null, new byte[16]);
    assertEquals(new Verdict(80, 80, 0, 0, 0, 0, 2, 0), verdict());
  }

  @Test
  void aRowThatComesTwiceIsRepeated() {
    Tally tally = new Tally(ledger());
    List<Node> nodes = new ArrayList<>(List.of(SOME, SOME));
    nodes.forEach(
        node -> tally.add(node.key(), ONE.previousOf(node.index()).key(), Filler.of(node, 16)));
    assertEquals(1, tally.verdict().repeated());
  }

  @Test
  void oneOfAnyKindIsNotClean() {
    for (int kind = 0; kind < 6; kind++) {
      long[] counts = new long[6];
      counts[kind] = 1;
      Verdict verdict =
          new Verdict(9, 9, counts[0], counts[1], counts[2], counts[3], counts[4], counts[5]);
      assertFalse(verdict.isClean(), verdict.json());
    }
  }

  @Test
  void theVerdictIsJson() {
    assertEquals(
        "{\"rows\":1,\"referenced\":2,\"unreferenced\":3,\"undefined\":4,\"lost\":5,"
            + "\"damaged\":6,\"strange\":7,\"repeated\":8}",
        new Verdict(1, 2, 3, 4, 5, 6, 7, 8).json());
  }
}
