package dev.sluice.local.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.lease.LeaseStore;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class ProtocolServerTest {
  private static final int DEADLINE_SECONDS = 30;
  private static final String SNAPSHOT = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"snapshot\"}\n";

  @TempDir private Path folder;

  private final List<ProtocolServer> servers = new ArrayList<>();

  private Path path() {
    return folder.resolve("store").resolve("one.sock");
  }

  @AfterEach
  void stop() {
    servers.forEach(ProtocolServer::close);
  }

  private ProtocolServer start() throws IOException {
    ProtocolServer server = ProtocolServer.start(path(), orders());
    servers.add(server);
    return server;
  }

  private static Orders orders() {
    return new Orders(
        new Description("store", "one", "", "", 60),
        new LeaseStore(System::nanoTime),
        List.of(new CountingKind()),
        List.of(),
        new Scopes(scope -> true, ""));
  }

  private static void send(SocketChannel channel, String text) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
  }

  private SocketChannel connect() throws IOException {
    return SocketChannel.open(UnixDomainSocketAddress.of(path()));
  }

  private static String receive(LineReader lines) throws IOException {
    byte[] line = lines.next();
    return line == null ? null : new String(line, StandardCharsets.UTF_8);
  }

  @Test
  void theSocketHasItsModeAndGoesWithTheServer() throws IOException {
    ProtocolServer server = start();
    assertEquals("rw-rw----", PosixFilePermissions.toString(Files.getPosixFilePermissions(path())));
    server.close();
    assertFalse(Files.exists(path()));
  }

  @Test
  void silentConnectionsHoldUpNobody() throws IOException {
    start();
    List<SocketChannel> silent = new ArrayList<>();
    try {
      for (int i = 0; i < 8; i++) {
        silent.add(connect());
      }
      try (SocketChannel channel = connect()) {
        send(channel, SNAPSHOT + SNAPSHOT);
        channel.shutdownOutput();
        LineReader lines = new LineReader(channel, Requests.MAX_LINE_BYTES);
        assertTrue(receive(lines).contains("\"result\""));
        assertTrue(receive(lines).contains("\"result\""));
        assertNull(receive(lines));
      }
    } finally {
      for (SocketChannel channel : silent) {
        channel.close();
      }
    }
  }

  /** A server may have no file left for a connection, for a moment. */
  @Test
  void oneThatCannotBeTakenIsNotTheLast() throws IOException {
    SocketPlace place = new SocketPlace(path());
    servers.add(ProtocolServer.start(place, new RefusesOnce(place.listen()), orders()));
    try (SocketChannel channel = connect()) {
      send(channel, SNAPSHOT);
      LineReader lines = new LineReader(channel, Requests.MAX_LINE_BYTES);
      assertTrue(receive(lines).contains("\"result\""));
    }
  }

  @Test
  void aLineThatIsTooLongEndsItsConnection() throws IOException {
    start();
    try (SocketChannel channel = connect()) {
      send(channel, "x".repeat(Requests.MAX_LINE_BYTES + 1));
      LineReader lines = new LineReader(channel, Requests.MAX_LINE_BYTES);
      assertTrue(receive(lines).contains("-32600"));
    }
  }

  @Test
  void connectionsBeyondTheLimitAreTurnedAway() throws IOException {
    start();
    List<SocketChannel> open = new ArrayList<>();
    try {
      for (int i = 0; i < ProtocolServer.MAX_CONNECTIONS; i++) {
        SocketChannel channel = connect();
        open.add(channel);
        send(channel, SNAPSHOT);
        assertTrue(receive(new LineReader(channel, Requests.MAX_LINE_BYTES)).contains("result"));
      }
      try (SocketChannel channel = connect()) {
        LineReader lines = new LineReader(channel, Requests.MAX_LINE_BYTES);
        assertTrue(receive(lines).contains("-32005"));
        assertNull(receive(lines));
      }
    } finally {
      for (SocketChannel channel : open) {
        channel.close();
      }
    }
  }

  @Test
  void aServedSocketIsRefused() throws IOException {
    start();
    IOException refused = assertThrows(IOException.class, this::start);
    assertTrue(refused.getMessage().contains("another name"), refused.getMessage());
    connect().close();
  }

  /** Whether one more may wait for the socket, which then does. */
  private boolean hasRoom(List<SocketChannel> waiting) throws IOException {
    SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    waiting.add(channel);
    channel.configureBlocking(false);
    try {
      return channel.connect(UnixDomainSocketAddress.of(path()));
    } catch (SocketException full) {
      return false;
    }
  }

  /** Its process is stopped, and as many wait for it as may. */
  @Test
  @Timeout(DEADLINE_SECONDS)
  void aServedSocketThatTakesNobodyIsNotWaitedFor() throws IOException {
    Files.createDirectories(path().getParent());
    List<SocketChannel> waiting = new ArrayList<>();
    try (ServerSocketChannel stopped = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      stopped.bind(UnixDomainSocketAddress.of(path()), 1);
      while (hasRoom(waiting)) {
        assertTrue(waiting.size() < ProtocolServer.MAX_CONNECTIONS);
      }
      IOException refused = assertThrows(IOException.class, this::start);
      assertTrue(refused.getMessage().contains("another name"), refused.getMessage());
      assertInstanceOf(SocketException.class, refused.getCause());
    } finally {
      for (SocketChannel channel : waiting) {
        channel.close();
      }
    }
  }

  /** Whoever has it was stopped, and so may never give it back. */
  @Test
  void aLockIsNotWaitedForWithoutEnd() throws IOException {
    Files.createDirectories(path().getParent());
    Path lockPath = path().resolveSibling(".lock");
    try (FileChannel file =
            FileChannel.open(lockPath, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        FileLock lock = file.lock()) {
      assertTrue(lock.isValid());
      IOException refused = assertThrows(IOException.class, this::start);
      assertTrue(refused.getMessage().contains(lockPath.toString()), refused.getMessage());
    }
    start();
  }

  @Test
  void aStaleSocketIsTakenOver() throws IOException {
    Files.createDirectories(path().getParent());
    ServerSocketChannel.open(StandardProtocolFamily.UNIX)
        .bind(UnixDomainSocketAddress.of(path()))
        .close();
    assertTrue(Files.exists(path()));
    start();
    connect().close();
  }

  @Test
  void whatIsNoSocketIsLeftAlone() throws IOException {
    Files.createDirectories(path().getParent());
    Files.writeString(path(), "x");
    assertThrows(IOException.class, this::start);
    assertEquals("x", Files.readString(path()));
  }

  @Test
  void theSocketOfASuccessorIsNotRemoved() throws IOException {
    ProtocolServer server = start();
    Files.delete(path());
    Files.writeString(path(), "x");
    server.close();
    assertTrue(Files.exists(path()));
  }

  @Test
  void aSocketThatCannotBeRemovedIsNotServedEither() throws IOException {
    SocketPlace place =
        new SocketPlace(path()) {
          @Override
          void remove() throws IOException {
            throw new IOException("Read-only file system");
          }
        };
    ServerSocketChannel listener = place.listen();
    ProtocolServer.start(place, listener, orders()).close();
    assertFalse(listener.isOpen());
    assertThrows(IOException.class, this::connect);
  }

  @Property(tries = 200)
  void linesArriveWholeHoweverTheyAreCut(
      @ForAll @Size(max = 6) List<@IntRange(max = 40_000) Integer> lengths) throws IOException {
    StringBuilder sent = new StringBuilder();
    lengths.forEach(length -> sent.append("x".repeat(length)).append('\n'));
    byte[] bytes = (sent + "unfinished").getBytes(StandardCharsets.UTF_8);
    LineReader lines =
        new LineReader(Channels.newChannel(new ByteArrayInputStream(bytes)), 1 << 20);
    for (int length : lengths) {
      assertEquals(length, lines.next().length);
    }
    assertNull(lines.next());
  }
}
