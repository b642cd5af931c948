package dev.sluice.hbase.plugin;

import dev.sluice.hbase.lease.LeaseStore;
import dev.sluice.hbase.lease.Scope;
import dev.sluice.hbase.protocol.Description;
import dev.sluice.hbase.protocol.Orders;
import dev.sluice.hbase.protocol.ProtocolServer;
import dev.sluice.hbase.protocol.SnapshotReporter;
import dev.sluice.hbase.protocol.TaskKind;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.util.VersionInfo;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The socket of a server's plug-in, where the server's configuration says. */
public final class PluginSocket implements AutoCloseable {
  /** The folder of the sockets of all stores; the socket is in hbase/ in it. */
  public static final String DIRECTORY_KEY = "sluice.socket.directory";

  public static final String MAX_TIME_TO_LIVE_KEY = "sluice.max.time.to.live.seconds";

  private static final Logger LOG = LoggerFactory.getLogger(PluginSocket.class);
  private static final String STORE = "hbase";
  private static final String NAME_FORM = "[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}";
  private static final double DEFAULT_MAX_TIME_TO_LIVE_SECONDS = 600;

  private final LeaseStore leases;
  private final List<TaskKind> kinds;
  private final List<SnapshotReporter> reporters;
  private final Predicate<Scope> exists;
  private boolean closed;
  private ProtocolServer server;

  /** Makes one that does not serve yet. */
  public PluginSocket(
      LeaseStore leases,
      List<TaskKind> kinds,
      List<SnapshotReporter> reporters,
      Predicate<Scope> exists) {
    this.leases = leases;
    this.kinds = kinds;
    this.reporters = reporters;
    this.exists = exists;
  }

  /**
   * Serves it, unless that is done or over already. Where it cannot, it says so in the log and the
   * store goes on without.
   *
   * @param instanceKey key of the configuration that names the instance, and so the socket
   */
  public synchronized void serve(Configuration conf, String instanceKey, String defaultInstance) {
    if (closed || server != null) {
      return;
    }
    String instance = conf.get(instanceKey, defaultInstance);
    if (!instance.matches(NAME_FORM)) {
      LOG.error(
          "no orders are taken: {} is {}, and must match {}", instanceKey, instance, NAME_FORM);
      return;
    }
    Path path =
        Path.of(conf.get(DIRECTORY_KEY, "/run/sluice")).resolve(STORE).resolve(instance + ".sock");
    try {
      server = ProtocolServer.start(path, orders(instance, conf));
    } catch (IOException | RuntimeException e) {
      LOG.error("no orders are taken: {} cannot be served; mend it and restart", path, e);
    }
  }

  private Orders orders(String instance, Configuration conf) {
    String version = PluginSocket.class.getPackage().getImplementationVersion();
    double maxTimeToLiveSeconds =
        conf.getDouble(MAX_TIME_TO_LIVE_KEY, DEFAULT_MAX_TIME_TO_LIVE_SECONDS);
    Description description =
        new Description(
            STORE,
            instance,
            VersionInfo.getVersion(),
            version == null ? "development" : version,
            maxTimeToLiveSeconds);
    return new Orders(description, leases, kinds, reporters, exists);
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
