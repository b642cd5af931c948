package dev.sluice.hbase.master;

import dev.sluice.hbase.plugin.HBaseSocket;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.plugin.PluginSocket;
import dev.sluice.local.plugin.PluginTicker;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.coprocessor.MasterObserver;
import org.apache.hadoop.hbase.master.MasterServices;

/**
 * The plug-in of an active master. It outlives the coprocessors, which the store makes anew when
 * their configuration has changed, and so do its leases.
 */
public final class MasterPlugin {
  /**
   * Name of the instance and its socket. It is not the key of region servers, since both may run on
   * a node with one configuration.
   */
  public static final String INSTANCE_KEY = "sluice.master.instance";

  // What a run of upstream's balancer takes at most before it moves anything, by default.
  private static final long PLANNING_MILLIS = 30_000;
  private static final double MILLIS_PER_SECOND = 1e3;

  // A process of tests may have several masters. Guarded by this class.
  private static final Map<MasterServices, MasterPlugin> PLUGINS = new HashMap<>();

  private final MasterServices services;
  private final LeaseStore leases = new LeaseStore(System::nanoTime);
  private final ExecutorService executor =
      Executors.newSingleThreadExecutor(MasterPlugin::newThread);
  private final ChoreObserver observer;
  private final PluginSocket socket;
  private volatile boolean closed;

  private MasterPlugin(MasterServices services, Connection connection) {
    this.services = services;
    Tables tables = new Tables(services);
    Balancing balancing =
        new Balancing(leases, System::nanoTime, longestRunSeconds(services.getConfiguration()));
    Normalization normalization = new Normalization(leases, System::nanoTime);
    TableCompactions compactions =
        new TableCompactions(
            tables::refuseIfNotCompacted,
            (scope, isMajor) -> Tables.requestCompaction(connection, scope, isMajor),
            executor,
            System::nanoTime);
    observer = new ChoreObserver(balancing, normalization);
    socket =
        HBaseSocket.of(
            leases,
            List.of(balancing, normalization, compactions),
            List.of(new ClusterFigures(services)),
            tables::exists);
  }

  private static Thread newThread(Runnable task) {
    Thread thread = new Thread(task, "sluice-table-compactions");
    thread.setDaemon(true);
    return thread;
  }

  private static double longestRunSeconds(Configuration conf) {
    int periodMillis =
        conf.getInt(HConstants.HBASE_BALANCER_PERIOD, HConstants.DEFAULT_HBASE_BALANCER_PERIOD);
    int movingMillis = conf.getInt(HConstants.HBASE_BALANCER_MAX_BALANCING, periodMillis);
    return (movingMillis + PLANNING_MILLIS) / MILLIS_PER_SECOND;
  }

  /** The plug-in of a master, which is made when it is first asked for. */
  static MasterPlugin of(MasterServices services, Connection connection) {
    synchronized (MasterPlugin.class) {
      MasterPlugin plugin = PLUGINS.get(services);
      if (plugin == null) {
        plugin = new MasterPlugin(services, connection);
        PLUGINS.put(services, plugin);
        PluginTicker.start(plugin.leases, () -> {}, plugin::isStopping, plugin::close);
      }
      return plugin;
    }
  }

  MasterObserver observer() {
    return observer;
  }

  /** Serves the socket. Where it cannot, it says so in the log and the store goes on without. */
  void serve() {
    socket.serve(services.getConfiguration()::get, INSTANCE_KEY, "master");
  }

  private boolean isStopping() {
    return closed || services.isStopped() || services.isAborted();
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
    executor.shutdownNow();
    synchronized (MasterPlugin.class) {
      PLUGINS.remove(services);
    }
  }
}
