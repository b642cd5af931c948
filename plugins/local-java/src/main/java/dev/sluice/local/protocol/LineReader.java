package dev.sluice.local.protocol;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;

/** Reads the lines of a connection. What has no newline was not sent. */
public final class LineReader {
  /** A line is longer than it may be; what follows cannot be told apart from it. */
  public static final class LineTooLongException extends IOException {
    private static final long serialVersionUID = 1L;
  }

  private static final int BUFFER_BYTES = 16 << 10;

  private final ReadableByteChannel channel;
  private final int maxLineBytes;
  private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES).flip();
  private ByteArrayOutputStream line = new ByteArrayOutputStream();

  /** Reads from a channel; a line may have so many bytes without its newline. */
  public LineReader(ReadableByteChannel channel, int maxLineBytes) {
    this.channel = channel;
    this.maxLineBytes = maxLineBytes;
  }

  /** The next line without its newline, or null at the end. */
  public byte[] next() throws IOException {
    while (true) {
      if (takeLine()) {
        byte[] whole = line.toByteArray();
        line = new ByteArrayOutputStream();
        return whole;
      }
      buffer.clear();
      int count = channel.read(buffer);
      buffer.flip();
      if (count < 0) {
        return null;
      }
    }
  }

  /** Moves what is in the buffer to the line, up to its newline; says whether there was one. */
  private boolean takeLine() throws LineTooLongException {
    int start = buffer.position();
    int end = start;
    while (end < buffer.limit() && buffer.get(end) != '\n') {
      end++;
    }
    if (line.size() + (end - start) > maxLineBytes) {
      throw new LineTooLongException();
    }
    line.write(buffer.array(), start, end - start);
    boolean complete = end < buffer.limit();
    buffer.position(complete ? end + 1 : end);
    return complete;
  }
}
