package dev.sluice.local.protocol;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Serves the socket, in threads of its own: one that accepts, and one for each connection. */
public final class ProtocolServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ProtocolServer.class);

  /** Far more than an agent and some operators need. */
  static final int MAX_CONNECTIONS = 64;

  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** The store's own end is not held up for longer. */
  private static final long END_MILLIS = 1000;

  private final SocketPlace place;
  private final Requests requests;
  private final ServerSocketChannel listener;
  private final Thread acceptor = new Thread(this::accept, "sluice-accept");
  private final Set<SocketChannel> connections = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  private ProtocolServer(SocketPlace place, ServerSocketChannel listener, Orders orders) {
    this.place = place;
    this.requests = new Requests(orders);
    this.listener = listener;
  }

  /** Makes the socket and serves it until it is closed. */
  public static ProtocolServer start(Path socketPath, Orders orders) throws IOException {
    SocketPlace place = new SocketPlace(socketPath);
    return start(place, place.listen(), orders);
  }

  static ProtocolServer start(SocketPlace place, ServerSocketChannel listener, Orders orders) {
    ProtocolServer server = new ProtocolServer(place, listener, orders);
    start(server.acceptor);
    LOG.info("orders are taken on {}", place.path());
    return server;
  }

  private static void start(Thread thread) {
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    while (!closed && listener.isOpen()) {
      try {
        startServing(listener.accept());
      } catch (IOException e) {
        if (!closed) {
          // There may be no file left for it; the server's work goes on, and so has this.
          LOG.warn("a connection was not taken: the next one is waited for", e);
          LockSupport.parkNanos(RETRY_NANOS);
        }
      }
    }
  }

  private void startServing(SocketChannel connection) throws IOException {
    connections.add(connection);
    try {
      start(new Thread(() -> serve(connection), "sluice-connection"));
    } catch (OutOfMemoryError e) {
      // What is missing is a thread, not memory.
      connections.remove(connection);
      connection.close();
      throw new IOException("no thread could be started for it", e);
    }
  }

  private void serve(SocketChannel connection) {
    try (connection) {
      if (connections.size() > MAX_CONNECTIONS) {
        write(connection, requests.turnedAway(MAX_CONNECTIONS));
        return;
      }
      answerLines(connection);
    } catch (IOException e) {
      LOG.debug("a connection has ended", e);
    } finally {
      connections.remove(connection);
    }
  }

  private void answerLines(SocketChannel connection) throws IOException {
    LineReader lines = new LineReader(connection, Requests.MAX_LINE_BYTES);
    try {
      for (byte[] line = lines.next(); line != null && !closed; line = lines.next()) {
        write(connection, requests.answer(line));
      }
    } catch (LineReader.LineTooLongException e) {
      write(connection, requests.tooLong());
    }
  }

  private static void write(SocketChannel connection, byte[] line) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(line.length + 1).put(line).put((byte) '\n').flip();
    while (buffer.hasRemaining()) {
      connection.write(buffer);
    }
  }

  /** Ends all connections and removes the socket. */
  @Override
  public void close() {
    closed = true;
    try (listener) {
      place.remove();
    } catch (IOException e) {
      LOG.warn("the socket {} was not removed: the next start takes it over", place.path(), e);
    }
    awaitLastConnection();
    for (SocketChannel connection : connections) {
      try {
        connection.close();
      } catch (IOException e) {
        LOG.debug("a connection was not closed", e);
      }
    }
  }

  /** A listener that is closed still takes a connection in a thread that waits for one. */
  private void awaitLastConnection() {
    LockSupport.unpark(acceptor);
    try {
      acceptor.join(END_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
