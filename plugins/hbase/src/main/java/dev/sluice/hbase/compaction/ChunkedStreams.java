package dev.sluice.hbase.compaction;

import java.io.IOException;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.fs.HFileSystem;
import org.apache.hadoop.hbase.io.FSDataInputStreamWrapper;

/**
 * The streams of a file that upstream opened, read in chunks. Which of them is read, with or
 * without the file system's checksums, is for upstream's to say, and it closes them.
 */
public final class ChunkedStreams extends FSDataInputStreamWrapper {
  private final FSDataInputStreamWrapper upstream;
  private final int chunkBytes;
  private FSDataInputStream read;
  private FSDataInputStream chunked;

  /**
   * For the reader of one compaction.
   *
   * @param chunkBytes how much is asked for at once, more than 0
   */
  public ChunkedStreams(FSDataInputStreamWrapper upstream, int chunkBytes) {
    super((FSDataInputStream) null);
    this.upstream = upstream;
    this.chunkBytes = chunkBytes;
  }

  private FSDataInputStream inChunks(FSDataInputStream stream) {
    if (stream != read) {
      read = stream;
      chunked = new FSDataInputStream(new ChunkedInputStream(stream, chunkBytes));
    }
    return chunked;
  }

  @Override
  public FSDataInputStream getStream(boolean useHBaseChecksum) {
    return inChunks(upstream.getStream(useHBaseChecksum));
  }

  @Override
  public FSDataInputStream fallbackToFsChecksum(int offCount) throws IOException {
    return inChunks(upstream.fallbackToFsChecksum(offCount));
  }

  @Override
  public void prepareForBlockReader(boolean forceNoHBaseChecksum) throws IOException {
    upstream.prepareForBlockReader(forceNoHBaseChecksum);
  }

  @Override
  public boolean shouldUseHBaseChecksum() {
    return upstream.shouldUseHBaseChecksum();
  }

  @Override
  public void checksumOk() {
    upstream.checksumOk();
  }

  @Override
  public HFileSystem getHfs() {
    return upstream.getHfs();
  }

  @Override
  public Path getReaderPath() {
    return upstream.getReaderPath();
  }

  @Override
  public void unbuffer() {
    upstream.unbuffer();
  }

  @Override
  public void close() {
    upstream.close();
  }
}
