package dev.sluice.hdfs;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.VolumeChoosingPolicy;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The redirect of one replica: the volumes that it may go to, and those of the type that was asked
 * for, where it goes if none of the others takes it. One thread has it.
 */
final class Redirect<V extends FsVolumeSpi> {
  private static final Logger LOG = LoggerFactory.getLogger(Redirect.class);

  private final List<V> targets;
  private final List<V> asked;
  private List<V> offered;
  private V chosen;

  Redirect(List<V> targets, List<V> asked) {
    this.targets = targets;
    this.asked = new ArrayList<>(asked);
  }

  /**
   * Whether a choice is for this replica. The store asks again with the same list, less one volume,
   * when that was closed meanwhile; with another list it asks for another replica.
   */
  boolean isFor(List<V> volumes) {
    if (offered == null) {
      offered = volumes;
    }
    return offered == volumes;
  }

  boolean isTarget(V volume) {
    return targets.contains(volume);
  }

  /**
   * Chooses a volume.
   *
   * @param volumes what the store has of the targets' type
   */
  V choose(VolumeChoosingPolicy<V> chooser, List<V> volumes, long replicaBytes, String storageId)
      throws IOException {
    // The store takes one that was closed out of its own list, which has none of those asked for.
    asked.remove(chosen);
    chosen = chooseTarget(chooser, volumes, replicaBytes, storageId);
    if (chosen == null) {
      chosen = chooser.chooseVolume(asked, replicaBytes, storageId);
    }
    return chosen;
  }

  /** Null if none of them takes it, for whatever reason: the write must not fail for that. */
  private V chooseTarget(
      VolumeChoosingPolicy<V> chooser, List<V> volumes, long replicaBytes, String storageId) {
    List<V> left = volumes.stream().filter(targets::contains).toList();
    if (left.isEmpty()) {
      return null;
    }
    try {
      return chooser.chooseVolume(left, replicaBytes, storageId);
    } catch (IOException | RuntimeException e) {
      LOG.info("a replica goes where it was asked for: {}", e.toString());
      return null;
    }
  }
}
