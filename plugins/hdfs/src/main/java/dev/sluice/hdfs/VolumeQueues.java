package dev.sluice.hdfs;

import dev.sluice.local.redirect.BlockDevice;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.WeakHashMap;
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
    return ofDevices(VolumeQueues::device);
  }

  /** Those of the devices that a look finds; one is looked for again when it has no reading. */
  static VolumeQueues ofDevices(Function<FsVolumeSpi, Optional<BlockDevice>> look) {
    // A volume equals itself alone. One that is added again is another, with a device of its own.
    Map<FsVolumeSpi, BlockDevice> devices = Collections.synchronizedMap(new WeakHashMap<>());
    return new VolumeQueues(
        volume -> {
          Optional<BlockDevice> device =
              Optional.ofNullable(devices.get(volume)).or(() -> look.apply(volume));
          Optional<BlockDevice.Reading> reading = device.flatMap(BlockDevice::read);
          if (reading.isPresent()) {
            devices.put(volume, device.get());
          } else {
            devices.remove(volume);
          }
          return reading;
        });
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
