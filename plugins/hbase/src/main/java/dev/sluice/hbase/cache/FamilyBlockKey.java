package dev.sluice.hbase.cache;

import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;

/**
 * The key under which a part of the cache keeps a block: upstream's, which it equals, with the
 * family that the block belongs to. It counts as much heap as upstream's, so that as many blocks
 * fit: it has a family where that one has a path.
 */
final class FamilyBlockKey extends BlockCacheKey {
  private static final long serialVersionUID = 1;

  private final transient FamilyView family;

  FamilyBlockKey(BlockCacheKey key, FamilyView family) {
    super(key.getHfileName(), key.getOffset(), key.isPrimary(), key.getBlockType());
    this.family = family;
  }

  FamilyView family() {
    return family;
  }
}
