package dev.sluice.tests.linkedlist;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class NodeTest {
  private static final int PARTS = 16;

  @Property
  void aKeyTellsItsNode(
      @ForAll @IntRange(min = 0) int chain, @ForAll @IntRange(min = 0) int index) {
    Node node = new Node(chain, index);
    assertEquals(Optional.of(node), Node.ofKey(node.key()));
  }

  @Property
  void anyKeyIsThatOfItsNodeOrOfNone(@ForAll @Size(8) byte[] key) {
    Node.ofKey(key).ifPresent(node -> assertEquals(ByteBuffer.wrap(key), wrapped(node)));
  }

  @Property
  void keysOfOtherLengthsAreThoseOfNone(@ForAll @Size(max = 20) byte[] key) {
    if (key.length != Node.KEY_BYTES) {
      assertEquals(Optional.empty(), Node.ofKey(key));
    }
  }

  @Property
  void mixingIsUndone(@ForAll long value) {
    assertEquals(value, Mixing.unmix(Mixing.mix(value)));
    assertEquals(value, Mixing.mix(Mixing.unmix(value)));
  }

  @Test
  void noKeyIsThatOfNone() {
    assertEquals(Optional.empty(), Node.ofKey(null));
  }

  @Test
  void keysOfAChainAreSpreadOverAllRegions() {
    int[] counts = new int[PARTS];
    IntStream.range(0, 16_000)
        .forEach(index -> counts[Byte.toUnsignedInt(new Node(3, index).key()[0]) / PARTS]++);
    for (int count : counts) {
      assertTrue(count > 850 && count < 1150, "a sixteenth of the keys has " + count);
    }
  }

  private static ByteBuffer wrapped(Node node) {
    return ByteBuffer.wrap(node.key());
  }
}
