package dev.sluice.hdfs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.redirect.BlockDevice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.mockito.Mockito;

class VolumeQueuesTest {
  @TempDir private Path folder;
  private Path diskstats;
  private FsVolumeSpi volume;
  private int looks;

  @BeforeEach
  void addVolume() throws IOException {
    diskstats = folder.resolve("diskstats");
    volume = new Volumes().add(StorageType.SSD, 1000);
  }

  private VolumeQueues queues() {
    return VolumeQueues.ofDevices(
        looked -> {
          looks++;
          return BlockDevice.below(folder, diskstats);
        });
  }

  /** Has the kernel show a device below the folder. */
  private void show(long requests) throws IOException {
    long number = (Long) Files.getAttribute(folder, "unix:dev");
    long major = number >>> 8 & 0xfff;
    long minor = number & 0xff | number >>> 12 & 0xfff00;
    String line = "%d %d sda 0 0 0 0 0 0 0 0 %d 0 0%n".formatted(major, minor, requests);
    Files.writeString(diskstats, line);
  }

  private static Optional<Long> queue(VolumeQueues queues, FsVolumeSpi volume) {
    return queues.read(volume).map(BlockDevice.Reading::queueRequests);
  }

  @Test
  void aDeviceIsLookedForOnce() throws IOException {
    VolumeQueues queues = queues();
    show(3);
    assertEquals(Optional.of(3L), queue(queues, volume));
    show(0);
    assertTrue(queues.isIdle(volume));
    assertEquals(1, looks);
  }

  @Test
  void oneThatWasNotFoundIsLookedForAgain() throws IOException {
    VolumeQueues queues = queues();
    assertFalse(queues.isIdle(volume));
    show(3);
    assertEquals(Optional.of(3L), queue(queues, volume));
  }

  @Test
  void oneThatIsGoneIsLookedForAgain() throws IOException {
    VolumeQueues queues = queues();
    show(3);
    queues.read(volume);
    Files.delete(diskstats);
    assertEquals(Optional.empty(), queue(queues, volume));
    show(3);
    assertEquals(Optional.of(3L), queue(queues, volume));
    assertEquals(2, looks);
  }

  @Test
  void aVolumeThatIsAddedAgainIsLookedForAgain() throws IOException {
    VolumeQueues queues = queues();
    show(3);
    queues.read(volume);
    FsVolumeSpi again = new Volumes().add(StorageType.SSD, 1000);
    String id = volume.getStorageID();
    Mockito.when(again.getStorageID()).thenReturn(id);
    queues.read(again);
    assertEquals(2, looks);
  }
}
