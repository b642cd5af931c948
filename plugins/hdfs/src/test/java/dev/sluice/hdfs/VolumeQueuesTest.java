package dev.sluice.hdfs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.redirect.BlockDevice;
import dev.sluice.local.redirect.ShownDevices;
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
  /** On a file system of the kernel's own, and so on another device than any folder of a test. */
  private static final Path ELSEWHERE = Path.of("/proc");

  @TempDir private Path folder;
  private Path base;
  private ShownDevices devices;
  private FsVolumeSpi volume;
  private VolumeQueues queues;

  @BeforeEach
  void addVolume() throws IOException {
    base = folder.resolve("volume");
    Files.createDirectory(base);
    devices = new ShownDevices(folder.resolve("diskstats"));
    volume = new Volumes().add(StorageType.SSD, 1000);
    Mockito.when(volume.getBaseURI()).thenReturn(base.toUri());
    queues = VolumeQueues.ofDevices(devices.diskstats());
  }

  private Optional<Long> queue() {
    return queues.read(volume).map(BlockDevice.Reading::queueRequests);
  }

  @Test
  void aQueueIsThatOfTheDeviceNow() throws IOException {
    devices.show(base, 3);
    assertEquals(Optional.of(3L), queue());
    assertFalse(queues.isIdle(volume));
    devices.show(base, 0);
    assertTrue(queues.isIdle(volume));
  }

  @Test
  void aDeviceThatIsNotShownIsLookedForAgain() throws IOException {
    assertFalse(queues.isIdle(volume));
    devices.show(base, 3);
    assertEquals(Optional.of(3L), queue());
    devices.hide();
    assertEquals(Optional.empty(), queue());
    devices.show(base, 3);
    assertEquals(Optional.of(3L), queue());
  }

  /** A disk that is changed while the DataNode runs, or mounted after it has started. */
  @Test
  void aVolumeThatIsOnAnotherDeviceByNowHasItsQueue() throws IOException {
    devices.show(base, 3);
    devices.show(ELSEWHERE, 5);
    assertEquals(Optional.of(3L), queue());
    Files.delete(base);
    Files.createSymbolicLink(base, ELSEWHERE);
    assertEquals(Optional.of(5L), queue());
  }

  @Test
  void storageThatIsNoFolderHasNone() throws IOException {
    devices.show(base, 3);
    Mockito.when(volume.getStorageType()).thenReturn(StorageType.PROVIDED);
    assertEquals(Optional.empty(), queue());
  }
}
