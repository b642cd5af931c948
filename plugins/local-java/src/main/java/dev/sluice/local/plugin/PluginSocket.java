package dev.sluice.local.plugin;

import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.protocol.Description;
import dev.sluice.local.protocol.Orders;
import dev.sluice.local.protocol.ProtocolServer;
import dev.sluice.local.protocol.Scopes;
import dev.sluice.local.protocol.SnapshotReporter;
import dev.sluice.local.protocol.TaskKind;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalDouble;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The socket of a server's plug-in, where the server's configuration says. */
public final class PluginSocket implements AutoCloseable {
  /** The folder of the sockets of all stores; the socket is in that of its store in it. */
  public static final String DIRECTORY_KEY = "sluice.socket.directory";

  public static final String MAX_TIME_TO_LIVE_KEY = "sluice.max.time.to.live.seconds";

  private static final Logger LOG = LoggerFactory.getLogger(PluginSocket.class);
  private static final String NAME_FORM = "[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}";
  private static final String DEFAULT_DIRECTORY = "/run/sluice";
  private static final String DEFAULT_MAX_TIME_TO_LIVE_SECONDS = "600";
  private static final double LEAST_TIME_TO_LIVE_SECONDS = 0.001;
  private static final double MOST_TIME_TO_LIVE_SECONDS = 1e9;

  private final Store store;
  private final LeaseStore leases;
  private final List<TaskKind> kinds;
  private final List<SnapshotReporter> reporters;
  private final Scopes scopes;
  private boolean closed;
  private ProtocolServer server;

  /** Makes one that does not serve yet. */
  public PluginSocket(
      Store store,
      LeaseStore leases,
      List<TaskKind> kinds,
      List<SnapshotReporter> reporters,
      Scopes scopes) {
    this.store = store;
    this.leases = leases;
    this.kinds = kinds;
    this.reporters = reporters;
    this.scopes = scopes;
  }

  /**
   * Serves it, unless that is done or over already. Where it cannot, it says so in the log and the
   * store goes on without.
   *
   * @param configuration gives the value of a key of the store's configuration, or null
   * @param instanceKey key that names the instance, and so the socket
   */
  public synchronized void serve(
      UnaryOperator<String> configuration, String instanceKey, String defaultInstance) {
    if (closed || server != null) {
      return;
    }
    String instance = valueOf(configuration, instanceKey, defaultInstance);
    if (!instance.matches(NAME_FORM)) {
      LOG.error(
          "no orders are taken: {} is {}, and must match {}", instanceKey, instance, NAME_FORM);
      return;
    }
    String maxTimeToLive =
        valueOf(configuration, MAX_TIME_TO_LIVE_KEY, DEFAULT_MAX_TIME_TO_LIVE_SECONDS);
    OptionalDouble seconds =
        ConfiguredNumber.parse(
            maxTimeToLive, LEAST_TIME_TO_LIVE_SECONDS, MOST_TIME_TO_LIVE_SECONDS);
    if (seconds.isEmpty()) {
      LOG.error(
          "no orders are taken: {} is \"{}\": set it to a number of seconds from 0.001 to 1e9, such"
              + " as {}",
          MAX_TIME_TO_LIVE_KEY,
          maxTimeToLive,
          DEFAULT_MAX_TIME_TO_LIVE_SECONDS);
      return;
    }
    Path path =
        Path.of(valueOf(configuration, DIRECTORY_KEY, DEFAULT_DIRECTORY))
            .resolve(store.name())
            .resolve(instance + ".sock");
    try {
      server = ProtocolServer.start(path, orders(instance, seconds.getAsDouble()));
    } catch (IOException | RuntimeException e) {
      LOG.error("no orders are taken: {} cannot be served; mend it and restart", path, e);
    }
  }

  private Orders orders(String instance, double maxTimeToLiveSeconds) {
    Description description =
        new Description(
            store.name(), instance, store.version(), store.pluginVersion(), maxTimeToLiveSeconds);
    return new Orders(description, leases, kinds, reporters, scopes);
  }

  private static String valueOf(
      UnaryOperator<String> configuration, String key, String defaultValue) {
    String value = configuration.apply(key);
    return value == null ? defaultValue : value;
  }

  /** Removes it for good. */
  @Override
  public void close() {
    ProtocolServer served;
    synchronized (this) {
      closed = true;
      served = server;
    }
    if (served != null) {
      served.close();
    }
  }
}
