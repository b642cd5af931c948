package dev.sluice.hdfs.modules;

import java.util.List;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.RoundRobinVolumeChoosingPolicy;

/** Redirects what was meant for an SSD to a disk, as long as it is switched on. */
public final class SwitchedPolicy extends RoundRobinVolumeChoosingPolicy<FsVolumeSpi> {
  /** Of all DataNodes in this process. */
  static volatile boolean redirects;

  @Override
  public StorageType redirect(
      List<FsVolumeSpi> allVolumes, StorageType requested, long replicaSize) {
    return redirects && requested == StorageType.SSD ? StorageType.DISK : requested;
  }
}
