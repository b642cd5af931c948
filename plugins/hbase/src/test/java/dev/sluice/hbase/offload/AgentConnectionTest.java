package dev.sluice.hbase.offload;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.protocol.LineReader;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.mockito.Mockito;

/** What an agent may answer, and what is made of it. */
class AgentConnectionTest {
  /** More than Java has wait unless it is told otherwise. */
  private static final int MOST_WAITING = 1000;

  private Path socket;
  private ServerSocketChannel server;

  @BeforeEach
  void listen() throws IOException {
    socket = Files.createTempDirectory("agent").resolve("s");
    server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    server.bind(UnixDomainSocketAddress.of(socket));
  }

  @AfterEach
  void close() throws IOException {
    server.close();
  }

  /** Answers a request with each of these, and closes the connection. */
  private void answer(String... results) {
    Thread agent =
        new Thread(
            () -> {
              try (SocketChannel connection = server.accept()) {
                LineReader lines = new LineReader(connection, 1 << 20);
                for (String result : results) {
                  lines.next();
                  String line = "{\"jsonrpc\":\"2.0\",\"id\":1," + result + "}\n";
                  connection.write(
                      ByteBuffer.wrap(line.replace('\'', '"').getBytes(StandardCharsets.UTF_8)));
                }
              } catch (IOException e) {
                throw new IllegalStateException(e);
              }
            });
    agent.setDaemon(true);
    agent.start();
  }

  private String reasonOfRun() {
    return assertThrows(
            StaysLocalException.class,
            () -> {
              try (AgentConnection agent = new AgentConnection(socket)) {
                agent.run(Map.of());
              }
            })
        .reason();
  }

  @Test
  void aJobHasAResult() throws Exception {
    answer(
        "'result':{'placement':'remote','node':'b'}",
        "'result':{'state':'running','node':'b','bytes_read':1,'bytes_written':1}",
        "'result':{'state':'done','node':'b','result':'Ag=='}");
    try (AgentConnection agent = new AgentConnection(socket)) {
      assertEquals("b", agent.run(Map.of("id", "a")));
      assertNull(agent.await());
      assertArrayEquals(new byte[] {2}, agent.await());
    }
  }

  @Test
  void aJobStaysForTheReasonOfTheAgent() {
    answer("'result':{'placement':'local','reason':'busy','detail':'all slots are taken'}");
    assertEquals("busy", reasonOfRun());
  }

  @Test
  void anAgentRefusesWhatItDoesNotKnow() {
    answer("'error':{'code':-32602,'message':'missing rocksdb_version'}");
    assertEquals(Reasons.AGENT_REFUSED, reasonOfRun());
  }

  @Test
  void anAgentIsLost() {
    answer();
    assertEquals(Reasons.AGENT_SILENT, reasonOfRun());
  }

  @Test
  void thereIsNoAgent() throws IOException {
    server.close();
    assertEquals(Reasons.NO_AGENT, reasonOfRun());
  }

  /** Whether one more may wait for the agent, which then does. */
  private boolean hasRoom(List<SocketChannel> waiting) throws IOException {
    SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
    waiting.add(channel);
    channel.configureBlocking(false);
    try {
      return channel.connect(UnixDomainSocketAddress.of(socket));
    } catch (SocketException full) {
      return false;
    }
  }

  /** It is stopped, and as many wait for it as may: a region that closes waits for this thread. */
  @Test
  @Timeout(60)
  void anAgentThatTakesNobodyIsNotWaitedFor() throws IOException {
    List<SocketChannel> waiting = new ArrayList<>();
    try {
      while (hasRoom(waiting)) {
        assertTrue(waiting.size() < MOST_WAITING);
      }
      assertEquals(Reasons.NO_AGENT, reasonOfRun());
    } finally {
      for (SocketChannel each : waiting) {
        each.close();
      }
    }
  }

  /** A server may have no file left for what waits, and asks again with its next compaction. */
  @Test
  void aConnectionThatCannotBeWaitedOnIsClosed() throws IOException {
    SelectorProvider noFileLeft = Mockito.mock(SelectorProvider.class);
    Mockito.when(noFileLeft.openSelector()).thenThrow(new IOException("Too many open files"));
    SocketChannel connected = SocketChannel.open(UnixDomainSocketAddress.of(socket));
    assertThrows(
        IOException.class, () -> new DeadlineChannel(connected, noFileLeft, Duration.ofSeconds(5)));
    assertFalse(connected.isOpen());
  }

  /** The store has switched compactions off: that must not wait for an agent. */
  @Test
  void anInterruptIsNoReasonToCompactHere() throws Exception {
    try (AgentConnection agent = new AgentConnection(socket)) {
      Thread.currentThread().interrupt();
      assertThrows(InterruptedIOException.class, () -> agent.run(Map.of()));
    }
  }
}
