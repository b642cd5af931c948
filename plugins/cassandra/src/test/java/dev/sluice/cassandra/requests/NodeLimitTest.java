package dev.sluice.cassandra.requests;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.cassandra.OverriddenValue;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What is put back of a bound that has a switch and a number. */
class NodeLimitTest {
  private static final NodeLimit OWN = new NodeLimit(true, 50_000);
  private static final NodeLimit ORDERED = new NodeLimit(true, 1000);

  private NodeLimit node = OWN;
  private final OverriddenValue<NodeLimit> overridden =
      new OverriddenValue<>(() -> node, wanted -> node = wanted, NodeLimit::changed);

  private void setMeanwhile(NodeLimit byOthers) {
    overridden.follow(Optional.of(ORDERED));
    node = byOthers;
    overridden.follow(Optional.of(ORDERED));
    assertEquals(ORDERED, node);
  }

  @Test
  void whoSwitchesItOffMeanwhileDoesNotKeepTheNumberOfTheOrder() {
    setMeanwhile(new NodeLimit(false, 1000));
    assertEquals(0, overridden.own().effective());
    overridden.follow(Optional.empty());
    assertEquals(new NodeLimit(false, 50_000), node);
  }

  @Test
  void itIsTheSameWhenItIsSwitchedOffAsTheOrderEnds() {
    overridden.follow(Optional.of(ORDERED));
    node = new NodeLimit(false, 1000);
    overridden.follow(Optional.empty());
    assertEquals(new NodeLimit(false, 50_000), node);
  }

  @Test
  void whatElseIsSetMeanwhileIsPutBack() {
    setMeanwhile(new NodeLimit(true, 7000));
    overridden.follow(Optional.empty());
    assertEquals(new NodeLimit(true, 7000), node);
    setMeanwhile(new NodeLimit(false, 9000));
    overridden.follow(Optional.empty());
    assertEquals(new NodeLimit(false, 9000), node);
  }
}
