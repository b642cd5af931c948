package dev.sluice.hbase.cache;

import java.util.Collections;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.apache.hadoop.hbase.io.hfile.CachedBlock;

/** The blocks of one part after the other. */
final class ChainedBlocks implements Iterator<CachedBlock> {
  private final Iterator<Iterator<CachedBlock>> parts;
  private Iterator<CachedBlock> current = Collections.emptyIterator();

  ChainedBlocks(Iterator<Iterator<CachedBlock>> parts) {
    this.parts = parts;
  }

  @Override
  public boolean hasNext() {
    while (!current.hasNext() && parts.hasNext()) {
      current = parts.next();
    }
    return current.hasNext();
  }

  @Override
  public CachedBlock next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    return current.next();
  }
}
