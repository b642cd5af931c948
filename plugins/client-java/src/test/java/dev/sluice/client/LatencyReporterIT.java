package dev.sluice.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reports to a real agent, which comes, hangs, dies and comes back. */
class LatencyReporterIT {
  private static final String BINARY_PROPERTY = "sluice.binary";
  private static final long PATIENCE_SECONDS = 60;
  private static final String READS =
      "sluice_client_request_duration_seconds_count{class=\"read\",store=\"hbase\"}";
  private static final String LOST = "sluice_client_lost_requests_total{store=\"hbase\"}";

  @TempDir(factory = ShortPath.class)
  Path folder;

  private Agent agent;
  private LatencyReporter reporter;

  @BeforeEach
  void prepare() throws Exception {
    String binary = System.getProperty(BINARY_PROPERTY, "");
    assumeTrue(!binary.isEmpty(), "give the path of the program sluice as " + BINARY_PROPERTY);
    agent = new Agent(folder, binary);
    reporter = LatencyReporter.start(agent.socket(), "hbase");
  }

  @AfterEach
  void end() throws Exception {
    if (reporter == null) {
      return; // Skipped.
    }
    reporter.close();
    agent.kill();
  }

  /** Waits until something holds; the time is a bound for a test that fails. */
  private void await(String what, Callable<Boolean> holds) throws Exception {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
    while (!holds.call()) {
      assertTrue(System.nanoTime() < deadline, () -> "waiting for " + what + ": " + logs());
      TimeUnit.MILLISECONDS.sleep(100);
    }
  }

  private String logs() {
    try {
      return agent.log();
    } catch (IOException e) {
      return e.getMessage();
    }
  }

  private void add(int requests) {
    for (int request = 0; request < requests; request++) {
      reporter.succeeded(Operation.READ, "orders/cf", TimeUnit.MILLISECONDS.toNanos(5));
    }
  }

  @Test
  void whatEndedIsWhatTheAgentCounts() throws Exception {
    agent.start();
    await("the client to be there", () -> agent.metric("sluice_clients{store=\"hbase\"}") == 1);
    double lost = reporter.lostRequests();
    add(1000);
    reporter.failed(Operation.READ, "orders");
    await("the requests", () -> agent.metric(READS) == 1000);
    assertEquals(
        5, agent.metric(READS.replace("_count", "_sum")), 1e-6, "five milliseconds a request");
    assertEquals(
        1, agent.metric("sluice_client_request_errors_total{class=\"read\",store=\"hbase\"}"));
    assertEquals(lost, reporter.lostRequests());
  }

  /**
   * Before the agent is there, and while it is not, requests are lost and counted; then it is told
   * how many.
   */
  @Test
  void anAgentThatIsNotThereIsFoundAgain() throws Exception {
    add(10);
    await("requests to be lost", () -> reporter.lostRequests() == 10);
    agent.start();
    await("the agent to know", () -> agent.metric(LOST) == 10);
    agent.kill();
    add(20);
    await("more requests to be lost", () -> reporter.lostRequests() == 30);
    agent.start();
    await("the new agent to know", () -> agent.metric(LOST) == 20);
    add(7);
    await("the requests after that", () -> agent.metric(READS) == 7);
  }

  /** An agent that hangs holds nobody up who adds, nor the end of the reporter for long. */
  @Test
  void anAgentThatHangsHoldsNobodyUp() throws Exception {
    agent.start();
    await("the client to be there", () -> agent.metric("sluice_clients{store=\"hbase\"}") == 1);
    agent.signal("STOP");
    add(100_000);
    await("requests to be lost", () -> reporter.lostRequests() == 100_000);
    agent.signal("CONT");
    await("the agent to know", () -> agent.metric(LOST) >= 100_000);
    agent.signal("STOP");
    reporter.close();
  }

  @Test
  void theEndOfTheReporterTellsTheRest() throws Exception {
    agent.start();
    await("the client to be there", () -> agent.metric("sluice_clients{store=\"hbase\"}") == 1);
    add(3);
    reporter.close();
    await("the requests", () -> agent.metric(READS) == 3);
    assertEquals(0, agent.metric("sluice_clients{store=\"hbase\"}"));
  }

  /** An agent that does not listen to clients of a store refuses, and is asked again. */
  @Test
  void whatTheAgentRefusesIsLost() throws Exception {
    agent.start();
    await("the client to be there", () -> agent.metric("sluice_clients{store=\"hbase\"}") == 1);
    try (LatencyReporter other = LatencyReporter.start(agent.socket(), "ignite")) {
      other.succeeded(Operation.READ, "t", 1);
      await("the request to be lost", () -> other.lostRequests() == 1);
    }
  }

  /** The path of a socket has at most 107 bytes. */
  static final class ShortPath implements org.junit.jupiter.api.io.TempDirFactory {
    @Override
    public Path createTempDirectory(
        org.junit.jupiter.api.extension.AnnotatedElementContext element,
        org.junit.jupiter.api.extension.ExtensionContext context)
        throws IOException {
      return Files.createTempDirectory(Path.of("/tmp"), "sluice");
    }
  }
}
