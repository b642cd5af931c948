package dev.sluice.tests.linkedlist;

import java.nio.ByteBuffer;

/** What a row holds beside its reference: it differs from row to row, so that damage shows. */
final class Filler {
  private Filler() {}

  static byte[] of(Node node, int bytes) {
    int words = (bytes + Long.BYTES - 1) / Long.BYTES;
    ByteBuffer filler = ByteBuffer.allocate(words * Long.BYTES);
    long seed = ~Mixing.mix(node.packed());
    for (int word = 0; word < words; word++) {
      filler.putLong(Mixing.mix(seed + word));
    }
    byte[] cut = new byte[bytes];
    filler.flip().get(cut);
    return cut;
  }
}
