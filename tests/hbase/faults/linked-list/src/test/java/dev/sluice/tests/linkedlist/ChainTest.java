package dev.sluice.tests.linkedlist;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ChainTest {
  @Property
  void aLineTellsItsChain(
      @ForAll @IntRange(min = 0) int number,
      @ForAll @IntRange(min = 1, max = 40_000) int batches,
      @ForAll @IntRange(min = 1, max = 40_000) int width,
      @ForAll @IntRange(min = 0) int fillerBytes) {
    Chain chain = new Chain(number, batches * width, width, fillerBytes);
    assertEquals(chain, Chain.parse(chain.line()));
  }

  @Property
  void anyTextIsALineOrRefused(@ForAll String text) {
    try {
      assertEquals(text, Chain.parse(text).line());
    } catch (IllegalArgumentException e) {
      assertTrue(e.getMessage() != null && !e.getMessage().isEmpty());
    }
  }

  @Property
  void eachRowIsReferredToByExactlyOne(
      @ForAll @IntRange(min = 1, max = 20) int batches,
      @ForAll @IntRange(min = 1, max = 20) int width) {
    Chain chain = new Chain(7, batches * width, width, 0);
    assertEquals(
        IntStream.range(0, chain.rows()).boxed().collect(Collectors.toSet()),
        IntStream.range(0, chain.rows())
            .mapToObj(chain::previousOf)
            .map(Node::index)
            .collect(Collectors.toSet()));
  }

  @Test
  void theFirstRowsReferToTheLastOnes() {
    Chain chain = new Chain(7, 30, 10, 0);
    assertEquals(new Node(7, 20), chain.previousOf(0));
    assertEquals(new Node(7, 29), chain.previousOf(9));
    assertEquals(new Node(7, 0), chain.previousOf(10));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "chain 1 rows 10 width 10",
        "chain 1 rows 10 width 3 filler 8",
        "chain 1 rows 0 width 10 filler 8",
        "chain 1 rows 10 width 0 filler 8",
        "chain -1 rows 10 width 10 filler 8",
        "chain 9999999999 rows 10 width 10 filler 8",
        "chain 1 rows 10 width 10 filler 8 "
      })
  void whatIsNoLineIsRefused(String line) {
    assertThrows(IllegalArgumentException.class, () -> Chain.parse(line));
  }

  @Test
  void aLedgerSaysWhichLineIsWrong() {
    List<String> lines = List.of("chain 1 rows 10 width 10 filler 8", "chain");
    String message =
        assertThrows(IllegalArgumentException.class, () -> Ledger.parse(lines)).getMessage();
    assertTrue(message.startsWith("line 2: "), message);
  }

  @Test
  void aLedgerHasAChainOnce() {
    String line = "chain 1 rows 10 width 10 filler 8";
    assertThrows(IllegalArgumentException.class, () -> Ledger.parse(List.of(line, line)));
  }

  @Test
  void aLedgerKnowsItsRowsAndNoOthers() {
    Ledger ledger = Ledger.parse(List.of("chain 4 rows 10 width 10 filler 8"));
    assertEquals(Optional.of(4), ledger.chainOf(new Node(4, 9)).map(Chain::number));
    assertEquals(Optional.empty(), ledger.chainOf(new Node(4, 10)));
    assertEquals(Optional.empty(), ledger.chainOf(new Node(5, 0)));
  }
}
