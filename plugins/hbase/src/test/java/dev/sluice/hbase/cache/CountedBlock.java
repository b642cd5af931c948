package dev.sluice.hbase.cache;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CacheableDeserializer;

/**
 * A block of a given size whose references are counted, so that a lost or a double release shows.
 */
final class CountedBlock implements Cacheable {
  private final int bytes;
  private final Runnable onRetain;
  private final AtomicInteger references = new AtomicInteger(1);

  CountedBlock(int bytes) {
    this(bytes, () -> {});
  }

  /** One that tells when it is read, cached or moved. */
  CountedBlock(int bytes, Runnable onRetain) {
    this.bytes = bytes;
    this.onRetain = onRetain;
  }

  @Override
  public int getSerializedLength() {
    return bytes;
  }

  @Override
  public void serialize(ByteBuffer destination, boolean includeNextBlockMetadata) {
    destination.position(destination.limit());
  }

  @Override
  public CacheableDeserializer<Cacheable> getDeserializer() {
    return null;
  }

  @Override
  public BlockType getBlockType() {
    return BlockType.DATA;
  }

  @Override
  public long heapSize() {
    return bytes;
  }

  @Override
  public Cacheable retain() {
    onRetain.run();
    if (references.getAndIncrement() <= 0) {
      throw new IllegalStateException("retained after its last release");
    }
    return this;
  }

  @Override
  public int refCnt() {
    return references.get();
  }

  @Override
  public boolean release() {
    int left = references.decrementAndGet();
    if (left < 0) {
      throw new IllegalStateException("released too often");
    }
    return left == 0;
  }
}
