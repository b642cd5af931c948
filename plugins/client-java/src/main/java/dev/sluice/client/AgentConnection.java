package dev.sluice.client;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A connection to the agent, on which nothing is waited for beyond a time. */
final class AgentConnection implements Closeable {
  /** Answers are short, errors of some hundred bytes the longest. */
  private static final int MOST_ANSWER_BYTES = 1 << 16;

  private final SocketChannel channel;
  private final Selector selector;
  private final ByteBuffer received = ByteBuffer.allocate(MOST_ANSWER_BYTES);

  AgentConnection(Path socket) throws IOException {
    channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      channel.configureBlocking(false);
      if (!channel.connect(UnixDomainSocketAddress.of(socket))) {
        throw new IOException("the agent takes no connections: too many wait for it");
      }
      selector = Selector.open();
      channel.register(selector, 0);
    } catch (IOException e) {
      channel.close();
      throw e;
    }
  }

  /**
   * Sends a line that ends with its newline, and gives the answer without its own.
   *
   * @throws SocketTimeoutException when the agent has not answered in time
   */
  String call(String line, Duration patience) throws IOException {
    long deadline = System.nanoTime() + patience.toNanos();
    ByteBuffer sent = ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8));
    while (sent.hasRemaining()) {
      if (channel.write(sent) == 0) {
        await(SelectionKey.OP_WRITE, deadline);
      }
    }
    received.clear();
    while (true) {
      int count = channel.read(received);
      if (count < 0) {
        throw new EOFException("the agent has closed the connection");
      }
      if (count > 0 && received.get(received.position() - 1) == '\n') {
        return new String(received.array(), 0, received.position() - 1, StandardCharsets.UTF_8);
      }
      if (!received.hasRemaining()) {
        throw new IOException("the agent's answer has no end");
      }
      if (count == 0) {
        await(SelectionKey.OP_READ, deadline);
      }
    }
  }

  private void await(int operation, long deadline) throws IOException {
    long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
    if (left <= 0) {
      throw new SocketTimeoutException("the agent has not answered in time");
    }
    channel.keyFor(selector).interestOps(operation);
    selector.select(left);
    selector.selectedKeys().clear();
  }

  @Override
  public void close() throws IOException {
    try (channel) {
      selector.close();
    }
  }
}
