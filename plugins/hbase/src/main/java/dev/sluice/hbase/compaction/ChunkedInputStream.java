package dev.sluice.hbase.compaction;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import org.apache.hadoop.fs.ByteBufferReadable;
import org.apache.hadoop.fs.PositionedReadable;
import org.apache.hadoop.fs.Seekable;

/**
 * Reads a file in chunks that are asked for by their position: a DataNode that has sent one has
 * nothing else to send. Whoever opened the file closes it. For one thread.
 */
final class ChunkedInputStream extends InputStream
    implements Seekable, PositionedReadable, ByteBufferReadable {
  private final PositionedReadable file;
  private final byte[] chunk;
  private long chunkStart;
  private int chunkLength;
  private long position;

  /**
   * Starts at the file's first byte.
   *
   * @param chunkBytes how much is asked for at once, more than 0
   */
  ChunkedInputStream(PositionedReadable file, int chunkBytes) {
    this.file = file;
    this.chunk = new byte[chunkBytes];
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
  }

  @Override
  public int read(byte[] target, int offset, int length) throws IOException {
    return read(ByteBuffer.wrap(target, offset, length));
  }

  @Override
  public int read(ByteBuffer target) throws IOException {
    if (!target.hasRemaining()) {
      return 0;
    }
    if (!hasNextByte()) {
      return -1;
    }
    int start = (int) (position - chunkStart);
    int length = Math.min(target.remaining(), chunkLength - start);
    target.put(chunk, start, length);
    position += length;
    return length;
  }

  /** Whether the chunk has the byte of the position, after it was read if it has to be. */
  private boolean hasNextByte() throws IOException {
    if (position < chunkStart || position >= chunkStart + chunkLength) {
      chunkLength = 0;
      chunkStart = position;
      chunkLength = Math.max(0, file.read(position, chunk, 0, chunk.length));
    }
    return chunkLength > 0;
  }

  @Override
  public void seek(long target) throws IOException {
    if (target < 0) {
      throw new EOFException("a file has no byte before its first one: " + target);
    }
    position = target;
  }

  @Override
  public long getPos() {
    return position;
  }

  /** It has none: the file system looks for another source by itself when a read fails. */
  @Override
  public boolean seekToNewSource(long target) {
    return false;
  }

  @Override
  public int read(long from, byte[] target, int offset, int length) throws IOException {
    return file.read(from, target, offset, length);
  }

  @Override
  public void readFully(long from, byte[] target, int offset, int length) throws IOException {
    file.readFully(from, target, offset, length);
  }

  @Override
  public void readFully(long from, byte[] target) throws IOException {
    file.readFully(from, target);
  }
}
