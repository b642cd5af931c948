package dev.sluice.hdfs;

import dev.sluice.local.redirect.BlockDevice;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
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
    // By storage, which stays where it is while the DataNode runs.
    Map<String, Optional<BlockDevice>> devices = new ConcurrentHashMap<>();
    return new VolumeQueues(
        volume ->
            devices
                .computeIfAbsent(volume.getStorageID(), id -> device(volume))
                .flatMap(BlockDevice::read));
  }

  private static Optional<BlockDevice> device(FsVolumeSpi volume) {
    // Storage that is not a folder has no device here.
    if (volume.getStorageType() == StorageType.PROVIDED) {
      return Optional.empty();
    }
    return BlockDevice.below(Path.of(volume.getBaseURI().getPath()), BlockDevice.DISKSTATS);
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
