package dev.sluice.hdfs;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.RoundRobinVolumeChoosingPolicy;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.VolumeChoosingPolicy;
import org.apache.hadoop.util.ReflectionUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Redirects replicas that clients write, and has another policy choose among the volumes of a type.
 * A DataNode has it by {@code dfs.datanode.fsdataset.volume.choosing.policy}; one without the hook
 * never asks it to redirect.
 */
public final class RedirectingVolumeChoosingPolicy<V extends FsVolumeSpi> extends Configured
    implements VolumeChoosingPolicy<V> {
  /** The policy that chooses among the volumes of a type. */
  public static final String CHOOSER_KEY = "sluice.volume.choosing.policy";

  private static final Logger LOG = LoggerFactory.getLogger(RedirectingVolumeChoosingPolicy.class);

  // The store asks for the type first, and then, in the same thread, for a volume of it.
  private final ThreadLocal<Redirect<V>> redirects = new ThreadLocal<>();
  private final AtomicBoolean warned = new AtomicBoolean();
  private VolumeChoosingPolicy<V> chooser;

  // Null until the plug-in has started: the DataNode may take replicas before.
  private volatile LogPlacement placement;

  @Override
  public void setConf(Configuration conf) {
    super.setConf(conf);
    if (conf == null) {
      return;
    }
    chooser = chooser(conf);
  }

  @SuppressWarnings("unchecked")
  private static <V extends FsVolumeSpi> VolumeChoosingPolicy<V> chooser(Configuration conf) {
    Class<?> type =
        conf.getClass(
            CHOOSER_KEY, RoundRobinVolumeChoosingPolicy.class, VolumeChoosingPolicy.class);
    return (VolumeChoosingPolicy<V>) ReflectionUtils.newInstance(type, conf);
  }

  /** The hook: the type of storage of a replica that a client is about to write. */
  public StorageType redirect(List<V> allVolumes, StorageType requested, long replicaSize) {
    redirects.remove();
    try {
      List<V> targets =
          placement(requested)
              .map(found -> found.targets(allVolumes, requested, replicaSize))
              .orElse(List.of());
      if (targets.isEmpty()) {
        return requested;
      }
      redirects.set(new Redirect<>(targets, ofType(allVolumes, requested)));
      return targets.get(0).getStorageType();
    } catch (RuntimeException | LinkageError e) {
      // A write must not fail for this, nor for what this version of the store has not.
      LOG.error("a replica was not redirected", e);
      return requested;
    }
  }

  private Optional<LogPlacement> placement(StorageType requested) {
    if (placement == null) {
      placement = DataNodePlugin.placement(getConf()).orElse(null);
    }
    boolean isMissed = placement == null && requested == LogPlacement.FAST_TYPE;
    if (isMissed && !warned.getAndSet(true)) {
      LOG.warn(
          "nothing is redirected until {} has started: is it in dfs.datanode.plugins?",
          DataNodePlugin.class.getName());
    }
    return Optional.ofNullable(placement);
  }

  private static <V extends FsVolumeSpi> List<V> ofType(List<V> volumes, StorageType type) {
    return volumes.stream().filter(volume -> volume.getStorageType() == type).toList();
  }

  @Override
  public V chooseVolume(List<V> volumes, long replicaSize, String storageId) throws IOException {
    Redirect<V> redirect = redirects.get();
    if (redirect == null || !redirect.isFor(volumes)) {
      redirects.remove();
      return chooser.chooseVolume(volumes, replicaSize, storageId);
    }
    V volume = redirect.choose(chooser, volumes, replicaSize, storageId);
    if (redirect.isTarget(volume)) {
      placement.redirected(volume);
    }
    return volume;
  }
}
