package org.apache.hadoop.hbase.io.hfile;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.Consumer;

/**
 * The blocks of an {@link LruBlockCache} with their keys and their order of use, which it shows to
 * its own package alone.
 */
public final class LruBlocks {
  private LruBlocks() {}

  /** All blocks, the one whose last use is longest ago first. */
  public static List<LruCachedBlock> oldestFirst(LruBlockCache cache) {
    Collection<LruCachedBlock> blocks = cache.getMapForTests().values();
    // Blocks that are read meanwhile change their place: a sort might throw, a heap does not.
    PriorityQueue<LruCachedBlock> byUse =
        new PriorityQueue<>(Math.max(1, blocks.size()), Comparator.reverseOrder());
    byUse.addAll(blocks);
    List<LruCachedBlock> ordered = new ArrayList<>(byUse.size());
    for (LruCachedBlock next = byUse.poll(); next != null; next = byUse.poll()) {
      ordered.add(next);
    }
    return ordered;
  }

  /** Shows every block, in no order. */
  public static void forEach(LruBlockCache cache, Consumer<LruCachedBlock> shown) {
    cache.getMapForTests().values().forEach(shown);
  }
}
