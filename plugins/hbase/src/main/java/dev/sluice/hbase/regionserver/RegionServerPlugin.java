package dev.sluice.hbase.regionserver;

import dev.sluice.hbase.lease.LeaseStore;
import dev.sluice.hbase.lease.Scope;
import dev.sluice.hbase.protocol.Description;
import dev.sluice.hbase.protocol.Orders;
import dev.sluice.hbase.protocol.ProtocolServer;
import dev.sluice.hbase.protocol.SnapshotReporter;
import dev.sluice.hbase.protocol.TaskKind;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.regionserver.Region;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.VersionInfo;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The plug-in of one region server. It outlives the controllers that the store makes anew whenever
 * its configuration is read again, and so do its leases.
 */
public final class RegionServerPlugin {
  /** Name of the socket; the folder is hbase/ in that of {@link #SOCKET_DIRECTORY_KEY}. */
  public static final String INSTANCE_KEY = "sluice.instance";

  public static final String SOCKET_DIRECTORY_KEY = "sluice.socket.directory";
  public static final String MAX_TIME_TO_LIVE_KEY = "sluice.max.time.to.live.seconds";

  private static final Logger LOG = LoggerFactory.getLogger(RegionServerPlugin.class);
  private static final String STORE = "hbase";
  private static final String NAME_FORM = "[a-zA-Z0-9][a-zA-Z0-9._-]{0,62}";
  private static final double DEFAULT_MAX_TIME_TO_LIVE_SECONDS = 600;

  // A process of tests has several region servers. Guarded by this class.
  private static final Map<RegionServerServices, RegionServerPlugin> PLUGINS = new HashMap<>();

  private final RegionServerServices services;
  private final LeaseStore leases = new LeaseStore(System::nanoTime);
  private final List<TaskKind> kinds = new CopyOnWriteArrayList<>();
  private final List<SnapshotReporter> reporters = new CopyOnWriteArrayList<>();
  private final PluginParts parts = new PluginParts();
  private volatile boolean closed;
  private ProtocolServer server;

  private RegionServerPlugin(RegionServerServices services) {
    this.services = services;
  }

  /** The plug-in of a region server, which is made when it is first asked for. */
  public static RegionServerPlugin of(RegionServerServices services) {
    synchronized (RegionServerPlugin.class) {
      RegionServerPlugin plugin = PLUGINS.get(services);
      if (plugin == null) {
        plugin = new RegionServerPlugin(services);
        PLUGINS.put(services, plugin);
        plugin.parts.attach(plugin);
        plugin.startTicking();
      }
      return plugin;
    }
  }

  public RegionServerServices services() {
    return services;
  }

  public LeaseStore leases() {
    return leases;
  }

  /** The part of a class. */
  public <T extends PluginPart> T part(Class<T> type) {
    return parts.get(type);
  }

  /** Has the protocol serve a kind of tasks; to be called when a part is attached. */
  public void register(TaskKind kind) {
    kinds.add(kind);
  }

  /** Has snapshots show what belongs to no kind; to be called when a part is attached. */
  public void registerReporter(SnapshotReporter reporter) {
    reporters.add(reporter);
  }

  /** Whether the server stops, so that nothing may be held up. */
  public boolean isStopping() {
    return closed || services.isStopped() || services.isAborted();
  }

  /** Serves the socket. Where it cannot, it says so in the log and the store goes on without. */
  synchronized void serve() {
    if (closed || server != null) {
      return;
    }
    Configuration conf = services.getConfiguration();
    String instance = conf.get(INSTANCE_KEY, "regionserver");
    if (!instance.matches(NAME_FORM)) {
      LOG.error(
          "no orders are taken: {} is {}, and must match {}", INSTANCE_KEY, instance, NAME_FORM);
      return;
    }
    Path path =
        Path.of(conf.get(SOCKET_DIRECTORY_KEY, "/run/sluice"))
            .resolve(STORE)
            .resolve(instance + ".sock");
    try {
      server = ProtocolServer.start(path, orders(instance, conf));
    } catch (IOException | RuntimeException e) {
      LOG.error("no orders are taken: {} cannot be served; mend it and restart", path, e);
    }
  }

  private Orders orders(String instance, Configuration conf) {
    String version = RegionServerPlugin.class.getPackage().getImplementationVersion();
    double maxTimeToLiveSeconds =
        conf.getDouble(MAX_TIME_TO_LIVE_KEY, DEFAULT_MAX_TIME_TO_LIVE_SECONDS);
    Description description =
        new Description(
            STORE,
            instance,
            VersionInfo.getVersion(),
            version == null ? "development" : version,
            maxTimeToLiveSeconds);
    return new Orders(description, leases, kinds, reporters, this::exists);
  }

  private boolean exists(Scope scope) {
    if (scope.table().isEmpty()) {
      return true;
    }
    for (Region region : services.getRegions()) {
      TableDescriptor table = region.getTableDescriptor();
      if (table.getTableName().getNameAsString().equals(scope.table())) {
        return scope.family().isEmpty() || table.hasColumnFamily(Bytes.toBytes(scope.family()));
      }
    }
    return false;
  }

  private void startTicking() {
    Thread ticker = new Thread(new PluginTicker(this, parts), "sluice-ticker");
    ticker.setDaemon(true);
    ticker.start();
  }

  /** Ends every lease, removes the socket and lets everything go. */
  void close() {
    ProtocolServer served;
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      served = server;
    }
    if (served != null) {
      served.close();
    }
    leases.end(lease -> true);
    parts.detach();
    synchronized (RegionServerPlugin.class) {
      PLUGINS.remove(services);
    }
  }
}
