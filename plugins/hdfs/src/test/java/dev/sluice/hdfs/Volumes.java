package dev.sluice.hdfs;

import dev.sluice.local.redirect.BlockDevice;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.mockito.Mockito;

/** Volumes of a DataNode that is not there, with room and queues as a test says. */
final class Volumes {
  private final List<FsVolumeSpi> all = new ArrayList<>();
  private final Map<FsVolumeSpi, Long> queues = new HashMap<>();

  List<FsVolumeSpi> all() {
    return all;
  }

  VolumeQueues queues() {
    return new VolumeQueues(
        volume ->
            Optional.ofNullable(queues.get(volume))
                .map(queue -> new BlockDevice.Reading(queue, 4096)));
  }

  /** Adds a volume whose queue is not known yet. */
  FsVolumeSpi add(StorageType type, long availableBytes) throws IOException {
    String name = type.toString().toLowerCase(Locale.ROOT) + all.size();
    FsVolumeSpi volume = Mockito.mock(FsVolumeSpi.class, name);
    Mockito.when(volume.getStorageType()).thenReturn(type);
    Mockito.when(volume.getStorageID()).thenReturn(name);
    Mockito.when(volume.getAvailable()).thenReturn(availableBytes);
    Mockito.when(volume.getBaseURI()).thenReturn(URI.create("file:/data/" + name + "/"));
    all.add(volume);
    return volume;
  }

  void setQueue(FsVolumeSpi volume, long requests) {
    queues.put(volume, requests);
  }
}
