package dev.sluice.client;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Tells the agent of this node once a second how long requests have taken. A request that is added
 * waits for nobody, and an agent that is absent, silent or refuses costs nothing but its reports:
 * they are dropped, and their requests counted. One is enough for all threads and connections of a
 * process; a daemon thread of its own does the telling.
 */
public final class LatencyReporter implements AutoCloseable {
  /** Where an agent listens unless its configuration says otherwise. */
  public static final Path DEFAULT_SOCKET = Path.of("/run/sluice/clients/agent.sock");

  private static final System.Logger LOG = System.getLogger(LatencyReporter.class.getName());
  private static final long NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  private final Path socket;
  private final ReportLines lines;
  private final Latencies latencies = new Latencies();
  private final CountDownLatch closing = new CountDownLatch(1);
  private final Thread thread;

  // What follows is the thread's own, but for the number that others may look at.
  private AgentConnection connection;
  private long begunNanos = System.nanoTime();
  private long untoldRequests;
  private volatile long lostRequests;
  private String problem = "";

  private LatencyReporter(Path socket, String store) {
    this.socket = socket;
    lines = new ReportLines(store);
    thread = new Thread(this::run, "sluice-latencies");
    thread.setDaemon(true);
  }

  /**
   * Begins to report.
   *
   * @param socket the agent's, {@link #DEFAULT_SOCKET} as a rule; it need not be there
   * @param store kind of store that the requests are for, such as hbase
   */
  public static LatencyReporter start(Path socket, String store) {
    if (!store.matches("[A-Za-z0-9][A-Za-z0-9._-]{0,62}")) {
      throw new IllegalArgumentException("'" + store + "' is no kind of store; one is hbase");
    }
    LatencyReporter reporter = new LatencyReporter(Objects.requireNonNull(socket), store);
    reporter.thread.start();
    return reporter;
  }

  /**
   * Adds a request that has ended well.
   *
   * @param scope part of the store as service levels name it: TABLE, or TABLE/FAMILY, which counts
   *     for TABLE as well; empty if it is not known
   */
  public void succeeded(Operation operation, String scope, long tookNanos) {
    latencies.of(operation, scope).succeeded(tookNanos);
  }

  /** Adds a request that has failed. */
  public void failed(Operation operation, String scope) {
    latencies.of(operation, scope).failed();
  }

  /** How many requests no agent was told of. */
  public long lostRequests() {
    return lostRequests;
  }

  private void run() {
    long next = begunNanos + NANOS_PER_SECOND;
    boolean isLast = false;
    while (!isLast) {
      isLast = awaitClosing(next - System.nanoTime());
      report();
      // Times that have passed are left out.
      long behind = Math.max(0, System.nanoTime() - next);
      next += (1 + behind / NANOS_PER_SECOND) * NANOS_PER_SECOND;
    }
    disconnect();
  }

  private boolean awaitClosing(long nanos) {
    try {
      return closing.await(nanos, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      // Nobody but the end of the process has a reason to.
      return true;
    }
  }

  private void report() {
    long now = System.nanoTime();
    double seconds = (now - begunNanos) / (double) NANOS_PER_SECOND;
    begunNanos = now;
    Map<Latencies.Key, Series.Told> told = latencies.take();
    boolean isTold = true;
    for (ReportLines.Line line : lines.of(seconds, untoldRequests, told)) {
      // An agent that does not take the first one is not waited for again.
      isTold = isTold && tell(line);
      if (!isTold) {
        untoldRequests += line.requests();
        lostRequests += line.requests();
      }
    }
  }

  private boolean tell(ReportLines.Line line) {
    try {
      if (connection == null) {
        connection = new AgentConnection(socket);
      }
      String answer = connection.call(line.text(), PATIENCE);
      if (answer.contains("\"result\":")) {
        untoldRequests -= line.lost();
        problem = "";
        return true;
      }
      warn("it refuses reports: " + answer);
    } catch (IOException e) {
      disconnect();
      warn(String.valueOf(e.getMessage()));
    }
    return false;
  }

  /** Once for each reason, as it may last. */
  private void warn(String why) {
    if (why.equals(problem)) {
      return;
    }
    problem = why;
    LOG.log(
        System.Logger.Level.WARNING,
        "response times are not told to the agent at {0}: {1}; see docs/client-latencies.md",
        socket,
        why);
  }

  private void disconnect() {
    if (connection == null) {
      return;
    }
    try {
      connection.close();
    } catch (IOException e) {
      LOG.log(System.Logger.Level.DEBUG, "the connection to the agent was not closed well", e);
    }
    connection = null;
  }

  /** Tells what there is, if the agent takes it at once, and ends. */
  @Override
  public void close() {
    closing.countDown();
    try {
      thread.join(2 * PATIENCE.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
