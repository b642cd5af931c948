package dev.sluice.tests.linkedlist;

import java.nio.ByteBuffer;
import java.util.Optional;

/** Which row of which chain; the key tells both, and keys are spread evenly over all regions. */
record Node(int chain, int index) {
  static final int KEY_BYTES = Long.BYTES;

  byte[] key() {
    return ByteBuffer.allocate(KEY_BYTES).putLong(Mixing.mix(packed())).array();
  }

  long packed() {
    return (long) chain << Integer.SIZE | Integer.toUnsignedLong(index);
  }

  /** What a key stands for; empty if it can be the key of no row. */
  static Optional<Node> ofKey(byte[] key) {
    if (key == null || key.length != KEY_BYTES) {
      return Optional.empty();
    }
    long packed = Mixing.unmix(ByteBuffer.wrap(key).getLong());
    Node node = new Node((int) (packed >>> Integer.SIZE), (int) packed);
    return node.chain < 0 || node.index < 0 ? Optional.empty() : Optional.of(node);
  }
}
