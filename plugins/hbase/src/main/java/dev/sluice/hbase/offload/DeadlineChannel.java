package dev.sluice.hbase.offload;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Path;
import java.time.Duration;

/** A connection to a Unix socket, on which nothing is waited for longer than for a given time. */
final class DeadlineChannel implements ReadableByteChannel, Closeable {
  private final SocketChannel channel;
  private final Selector selector;
  private final SelectionKey key;
  private final Duration patience;

  DeadlineChannel(Path socket, Duration patience) throws IOException {
    this(connected(socket), SelectorProvider.provider(), patience);
  }

  /** At once or not at all: one that takes no connections would be waited for without end. */
  private static SocketChannel connected(Path socket) throws IOException {
    SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      channel.configureBlocking(false);
      if (channel.connect(UnixDomainSocketAddress.of(socket))) {
        return channel;
      }
      throw new IOException("no connection is taken");
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  /** Takes a connection over, and closes it where nothing can be waited for on it. */
  DeadlineChannel(SocketChannel connected, SelectorProvider selectors, Duration patience)
      throws IOException {
    this.patience = patience;
    channel = connected;
    try {
      channel.configureBlocking(false);
      selector = selectors.openSelector();
      key = channel.register(selector, 0);
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  @Override
  public int read(ByteBuffer into) throws IOException {
    int count = channel.read(into);
    while (count == 0) {
      await(SelectionKey.OP_READ);
      count = channel.read(into);
    }
    return count;
  }

  void writeAll(ByteBuffer bytes) throws IOException {
    while (bytes.hasRemaining()) {
      if (channel.write(bytes) == 0) {
        await(SelectionKey.OP_WRITE);
      }
    }
  }

  private void await(int operation) throws IOException {
    key.interestOps(operation);
    int ready = selector.select(patience.toMillis());
    selector.selectedKeys().clear();
    if (Thread.interrupted()) {
      throw new InterruptedIOException("interrupted while an agent was waited for");
    }
    if (ready == 0) {
      throw new SocketTimeoutException("the agent has said nothing for " + patience);
    }
  }

  @Override
  public boolean isOpen() {
    return channel.isOpen();
  }

  @Override
  public void close() throws IOException {
    selector.close();
    channel.close();
  }
}
