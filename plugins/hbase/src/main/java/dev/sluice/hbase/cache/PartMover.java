package dev.sluice.hbase.cache;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.locks.Lock;
import org.apache.hadoop.hbase.io.hfile.LruBlocks;
import org.apache.hadoop.hbase.io.hfile.LruCachedBlock;

/**
 * Moves blocks between parts when reservations change, so that none is dropped for whom there is
 * room. The shared part shrinks and grows with what leaves and enters it.
 */
final class PartMover {
  private final CachePart shared;
  private final Lock placing;

  PartMover(CachePart shared, Lock placing) {
    this.shared = shared;
    this.placing = placing;
  }

  /** Moves everything that is in a part to where its family belongs now. */
  void empty(CachePart part) {
    give(part, LruBlocks.oldestFirst(part));
  }

  /** Makes a part smaller; what was used longest ago goes to the shared part. */
  void shrink(CachePart part, long bytes) {
    long excess = part.getCurrentSize() - acceptableBytes(part, bytes);
    List<LruCachedBlock> given = new ArrayList<>();
    for (LruCachedBlock block : LruBlocks.oldestFirst(part)) {
      if (excess <= 0) {
        break;
      }
      given.add(block);
      excess -= block.heapSize();
    }
    give(part, given);
    part.setMaxSize(bytes);
  }

  private void give(CachePart part, List<LruCachedBlock> blocks) {
    for (LruCachedBlock block : blocks) {
      CachePart destination = destination(block, part);
      if (destination == shared) {
        shared.setMaxSize(shared.getMaxSize() + bytesThatAccept(block.heapSize()));
      }
      move(block, part, destination);
    }
  }

  /**
   * Moves into a part what its families used last, as much as fits when it is as large as this. The
   * part grows with what enters it: otherwise new blocks could fill what the shared part still has.
   */
  void fill(CachePart part, long bytes) {
    List<LruCachedBlock> taken =
        usedLast(part, acceptableBytes(part, bytes) - part.getCurrentSize());
    long partBytes = part.getMaxSize();
    long sharedBytes = shared.getMaxSize();
    long movedBytes = 0;
    for (LruCachedBlock block : taken) {
      movedBytes += block.heapSize();
      long given = Math.min(bytes - partBytes, bytesThatAccept(movedBytes));
      part.setMaxSize(partBytes + given);
      move(block, shared, part);
      shared.setMaxSize(sharedBytes - given);
    }
  }

  /** What a part would get from the shared one, in the order of its use. */
  private List<LruCachedBlock> usedLast(CachePart part, long roomBytes) {
    long room = roomBytes;
    List<LruCachedBlock> oldestFirst = LruBlocks.oldestFirst(shared);
    List<LruCachedBlock> taken = new ArrayList<>();
    for (int i = oldestFirst.size() - 1; i >= 0; i--) {
      LruCachedBlock block = oldestFirst.get(i);
      if (!belongsTo(block, part)) {
        continue;
      }
      room -= block.heapSize();
      if (room < 0) {
        break;
      }
      taken.add(block);
    }
    Collections.reverse(taken);
    return taken;
  }

  /**
   * How much a part of this size may hold before upstream evicts, which is for new blocks alone.
   */
  private static long acceptableBytes(CachePart part, long bytes) {
    return (long) (acceptableShare(part) * bytes);
  }

  private long bytesThatAccept(long heapBytes) {
    return 1 + (long) (heapBytes / acceptableShare(shared));
  }

  private static double acceptableShare(CachePart part) {
    return (double) part.acceptableSize() / part.getMaxSize();
  }

  private static boolean belongsTo(LruCachedBlock block, CachePart part) {
    return block.getCacheKey() instanceof FamilyBlockKey key && key.family().places()[0] == part;
  }

  /** The first other part of the family that has room, else the shared one. */
  private CachePart destination(LruCachedBlock block, CachePart from) {
    if (!(block.getCacheKey() instanceof FamilyBlockKey key)) {
      return shared;
    }
    for (CachePart place : key.family().places()) {
      boolean hasRoom = place.getCurrentSize() + block.heapSize() <= place.acceptableSize();
      if (place != from && hasRoom) {
        return place;
      }
    }
    return shared;
  }

  private void move(LruCachedBlock block, CachePart from, CachePart to) {
    placing.lock();
    try {
      to.takeOver(block, from);
    } finally {
      placing.unlock();
    }
  }
}
