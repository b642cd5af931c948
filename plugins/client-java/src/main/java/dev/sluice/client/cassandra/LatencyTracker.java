package dev.sluice.client.cassandra;

import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.config.DriverExecutionProfile;
import com.datastax.oss.driver.api.core.context.DriverContext;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.session.Request;
import com.datastax.oss.driver.api.core.session.Session;
import com.datastax.oss.driver.api.core.tracker.RequestTracker;
import dev.sluice.client.LatencyReporter;
import dev.sluice.client.Operation;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.BiConsumer;

/**
 * Tells the agent how long requests of a session take, from the call to its end, with all that the
 * driver tries again. The driver makes it where its configuration names it:
 *
 * <pre>datastax-java-driver.advanced.request-tracker.classes =
 *     [dev.sluice.client.cassandra.LatencyTracker]</pre>
 */
public final class LatencyTracker implements RequestTracker {
  /** The system property for another socket than {@link LatencyReporter#DEFAULT_SOCKET}. */
  public static final String SOCKET_PROPERTY = "sluice.clients.socket";

  private static final String STORE = "cassandra";

  private final LatencyReporter reporter;
  private final boolean isOwn;
  private volatile Session session;

  /** Made by the driver; it has a reporter of its own, and ends it with the session. */
  public LatencyTracker(DriverContext context) {
    this(LatencyReporter.start(socket(), STORE), true);
  }

  /** For {@code SessionBuilder.addRequestTracker}; the reporter is the caller's to close. */
  public LatencyTracker(LatencyReporter reporter) {
    this(reporter, false);
  }

  private LatencyTracker(LatencyReporter reporter, boolean isOwn) {
    this.reporter = reporter;
    this.isOwn = isOwn;
  }

  private static Path socket() {
    return Path.of(System.getProperty(SOCKET_PROPERTY, LatencyReporter.DEFAULT_SOCKET.toString()));
  }

  @Override
  public void onSessionReady(Session ready) {
    session = ready;
  }

  @Override
  public void onSuccess(
      Request request, long tookNanos, DriverExecutionProfile profile, Node node, String prefix) {
    add(request, (each, scope) -> reporter.succeeded(each, scope, tookNanos));
  }

  @Override
  public void onError(
      Request request,
      Throwable error,
      long tookNanos,
      DriverExecutionProfile profile,
      Node node,
      String prefix) {
    add(request, reporter::failed);
  }

  private void add(Request request, BiConsumer<Operation, String> adding) {
    RequestedTable.of(request, keyspace())
        .ifPresent(asked -> adding.accept(asked.operation(), asked.scope()));
  }

  private Optional<CqlIdentifier> keyspace() {
    Session ready = session;
    return ready == null ? Optional.empty() : ready.getKeyspace();
  }

  @Override
  public void close() {
    if (isOwn) {
      reporter.close();
    }
  }
}
