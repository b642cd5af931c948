package dev.sluice.hdfs;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
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
  private VolumeChoosingPolicy<V> chooser;
  private Optional<LogPlacement> placement = Optional.empty();

  @Override
  public void setConf(Configuration conf) {
    super.setConf(conf);
    if (conf == null) {
      return;
    }
    chooser = chooser(conf);
    placement = DataNodePlugin.placement(conf);
    if (placement.isEmpty()) {
      LOG.warn(
          "nothing is redirected: add {} to dfs.datanode.plugins", DataNodePlugin.class.getName());
    }
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
          placement.map(p -> p.targets(allVolumes, requested, replicaSize)).orElse(List.of());
      if (targets.isEmpty()) {
        return requested;
      }
      redirects.set(new Redirect<>(targets, ofType(allVolumes, requested)));
      return targets.get(0).getStorageType();
    } catch (RuntimeException e) {
      // A write must not fail for this.
      LOG.error("a replica was not redirected", e);
      return requested;
    }
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
      placement.ifPresent(p -> p.redirected(volume));
    }
    return volume;
  }
}
