package dev.sluice.hdfs;

import dev.sluice.local.redirect.BlockDevice;
import dev.sluice.local.redirect.FolderQueue;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;

/** The queues of the devices below the volumes of a DataNode. */
final class VolumeQueues {
  private final Function<FsVolumeSpi, Optional<BlockDevice.Reading>> reader;

  /** Makes them of what reads the device of a volume: empty where that cannot be known. */
  VolumeQueues(Function<FsVolumeSpi, Optional<BlockDevice.Reading>> reader) {
    this.reader = reader;
  }

  /** Those of the devices that the kernel shows. */
  static VolumeQueues ofDevices() {
    return ofDevices(BlockDevice.DISKSTATS);
  }

  /** Those of the devices that a file as {@link BlockDevice#DISKSTATS} shows. */
  static VolumeQueues ofDevices(Path diskstats) {
    return new VolumeQueues(volume -> read(volume, diskstats));
  }

  private static Optional<BlockDevice.Reading> read(FsVolumeSpi volume, Path diskstats) {
    // Storage that is not a folder has no device here.
    if (volume.getStorageType() == StorageType.PROVIDED) {
      return Optional.empty();
    }
    return new FolderQueue(Path.of(volume.getBaseURI().getPath()), diskstats).read();
  }

  /** What the device of a volume has to do; empty where that cannot be known. */
  Optional<BlockDevice.Reading> read(FsVolumeSpi volume) {
    return reader.apply(volume);
  }

  /** Whether the device of a volume is known to have nothing to do. */
  boolean isIdle(FsVolumeSpi volume) {
    return read(volume).map(reading -> reading.queueRequests() == 0).orElse(false);
  }

  /** The shortest queue of volumes; empty if there are none, or one of them is not known. */
  OptionalLong shortest(Collection<? extends FsVolumeSpi> volumes) {
    long shortest = Long.MAX_VALUE;
    for (FsVolumeSpi volume : volumes) {
      Optional<BlockDevice.Reading> reading = read(volume);
      if (reading.isEmpty()) {
        return OptionalLong.empty();
      }
      shortest = Math.min(shortest, reading.get().queueRequests());
    }
    return shortest == Long.MAX_VALUE ? OptionalLong.empty() : OptionalLong.of(shortest);
  }
}
