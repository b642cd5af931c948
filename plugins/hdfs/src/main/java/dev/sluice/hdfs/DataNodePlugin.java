package dev.sluice.hdfs;

import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.plugin.PluginSocket;
import dev.sluice.local.plugin.PluginTicker;
import dev.sluice.local.plugin.Store;
import dev.sluice.local.protocol.Scopes;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsDatasetSpi;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.apache.hadoop.util.ServicePlugin;
import org.apache.hadoop.util.VersionInfo;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The plug-in of a DataNode, which has it by {@code dfs.datanode.plugins}: serves the socket while
 * the DataNode lives, and decides for its {@link RedirectingVolumeChoosingPolicy}.
 */
public final class DataNodePlugin implements ServicePlugin {
  /** Name of the instance and its socket; a region server reads this configuration too. */
  public static final String INSTANCE_KEY = "sluice.datanode.instance";

  private static final Logger LOG = LoggerFactory.getLogger(DataNodePlugin.class);
  private static final String SCOPES = "The only scope is \"\", the DataNode.";

  // A process of tests has several DataNodes, each with a configuration of its own, which is all
  // that the policy is given. Guarded by this class.
  private static final Map<Configuration, LogPlacement> PLACEMENTS = new IdentityHashMap<>();

  private final LeaseStore leases = new LeaseStore(System::nanoTime);
  private Configuration conf;
  private PluginSocket socket;
  private volatile boolean closed;

  /** What decides for the DataNode of a configuration; empty if that has not this plug-in. */
  static Optional<LogPlacement> placement(Configuration conf) {
    synchronized (DataNodePlugin.class) {
      return Optional.ofNullable(PLACEMENTS.get(conf));
    }
  }

  /**
   * The DataNode may have volumes by now, or may not. What this raises is logged, and the DataNode
   * goes on.
   */
  @Override
  public void start(Object service) {
    DataNode dataNode = (DataNode) service;
    conf = dataNode.getConf();
    LogPlacement placement =
        new LogPlacement(
            new PlacementSettings(leases, conf), VolumeQueues.ofDevices(), () -> volumes(dataNode));
    synchronized (DataNodePlugin.class) {
      PLACEMENTS.put(conf, placement);
    }
    Store store = Store.of("hdfs", VersionInfo.getVersion(), DataNodePlugin.class);
    Scopes scopes = new Scopes(Scope.SERVER::equals, SCOPES);
    socket = new PluginSocket(store, leases, List.of(placement), List.of(), scopes);
    socket.serve(conf::get, INSTANCE_KEY, "datanode");
    PluginTicker.start(leases, placement::tick, () -> closed, this::stop);
  }

  /** The volumes of a DataNode, none while it starts and after it has ended. */
  private static Collection<FsVolumeSpi> volumes(DataNode dataNode) {
    FsDatasetSpi<?> dataset = dataNode.getFSDataset();
    if (dataset == null) {
      return List.of();
    }
    List<FsVolumeSpi> volumes = new ArrayList<>();
    try (FsDatasetSpi.FsVolumeReferences references = dataset.getFsVolumeReferences()) {
      references.forEach(volumes::add);
    } catch (IOException e) {
      LOG.debug("a volume was not given back", e);
    }
    return volumes;
  }

  @Override
  public void stop() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    if (socket != null) {
      socket.close();
    }
    leases.end(lease -> true);
    synchronized (DataNodePlugin.class) {
      PLACEMENTS.remove(conf);
    }
  }

  @Override
  public void close() {
    stop();
  }
}
