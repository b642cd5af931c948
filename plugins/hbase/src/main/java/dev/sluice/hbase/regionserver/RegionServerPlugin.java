package dev.sluice.hbase.regionserver;

import dev.sluice.hbase.plugin.HBaseSocket;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.plugin.PluginSocket;
import dev.sluice.local.plugin.PluginTicker;
import dev.sluice.local.protocol.SnapshotReporter;
import dev.sluice.local.protocol.TaskKind;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.regionserver.Region;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * The plug-in of one region server. It outlives the controllers that the store makes anew whenever
 * its configuration is read again, and so do its leases.
 */
public final class RegionServerPlugin {
  /** Name of the instance and its socket. */
  public static final String INSTANCE_KEY = "sluice.instance";

  // A process of tests has several region servers. Guarded by this class.
  private static final Map<RegionServerServices, RegionServerPlugin> PLUGINS = new HashMap<>();

  private final RegionServerServices services;
  private final LeaseStore leases = new LeaseStore(System::nanoTime);
  private final List<TaskKind> kinds = new CopyOnWriteArrayList<>();
  private final List<SnapshotReporter> reporters = new CopyOnWriteArrayList<>();
  private final PluginParts parts = new PluginParts();
  private final PluginSocket socket = HBaseSocket.of(leases, kinds, reporters, this::exists);
  private volatile boolean closed;

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
        PluginTicker.start(plugin.leases, plugin.parts::tick, plugin::isStopping, plugin::close);
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
  void serve() {
    socket.serve(services.getConfiguration()::get, INSTANCE_KEY, "regionserver");
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

  /** Ends every lease, removes the socket and lets everything go. */
  void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    socket.close();
    leases.end(lease -> true);
    parts.detach();
    synchronized (RegionServerPlugin.class) {
      PLUGINS.remove(services);
    }
  }
}
