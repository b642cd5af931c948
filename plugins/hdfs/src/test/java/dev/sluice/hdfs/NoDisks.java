package dev.sluice.hdfs;

import java.io.IOException;
import java.util.List;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.VolumeChoosingPolicy;
import org.apache.hadoop.util.DiskChecker.DiskOutOfSpaceException;

/** Chooses the first volume, and finds no room on disks and where there is none. */
public final class NoDisks<V extends FsVolumeSpi> implements VolumeChoosingPolicy<V> {
  @Override
  public V chooseVolume(List<V> volumes, long replicaSize, String storageId) throws IOException {
    if (volumes.isEmpty() || volumes.get(0).getStorageType() == StorageType.DISK) {
      throw new DiskOutOfSpaceException("no room on " + volumes);
    }
    return volumes.get(0);
  }
}
