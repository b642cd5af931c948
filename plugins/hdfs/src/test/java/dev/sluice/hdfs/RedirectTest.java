package dev.sluice.hdfs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.RoundRobinVolumeChoosingPolicy;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.VolumeChoosingPolicy;
import org.apache.hadoop.util.DiskChecker.DiskOutOfSpaceException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mockito.Mockito;

class RedirectTest {
  private static final long BLOCK_BYTES = 128;

  private final Volumes volumes = new Volumes();
  private final VolumeChoosingPolicy<FsVolumeSpi> roundRobin =
      new RoundRobinVolumeChoosingPolicy<>();
  private FsVolumeSpi ssd;
  private FsVolumeSpi otherSsd;
  private FsVolumeSpi disk;
  private FsVolumeSpi busyDisk;

  @BeforeEach
  void addVolumes() throws IOException {
    ssd = volumes.add(StorageType.SSD, 1000);
    otherSsd = volumes.add(StorageType.SSD, 1000);
    disk = volumes.add(StorageType.DISK, 1000);
    busyDisk = volumes.add(StorageType.DISK, 1000);
  }

  private Redirect<FsVolumeSpi> redirect() {
    return new Redirect<>(List.of(disk), List.of(ssd, otherSsd));
  }

  /** The list that the store makes of the disks that it has. */
  private List<FsVolumeSpi> disks() {
    return new ArrayList<>(List.of(busyDisk, disk));
  }

  private FsVolumeSpi choose(Redirect<FsVolumeSpi> redirect, List<FsVolumeSpi> offered)
      throws IOException {
    return redirect.choose(roundRobin, offered, BLOCK_BYTES, "");
  }

  @Test
  void oneOfTheTargetsIsChosen() throws IOException {
    Redirect<FsVolumeSpi> redirect = redirect();
    assertSame(disk, choose(redirect, disks()));
    assertTrue(redirect.isTarget(disk));
    assertFalse(redirect.isTarget(ssd));
  }

  @Test
  void withoutATargetItGoesWhereItWasAskedFor() throws IOException {
    assertSame(ssd, choose(redirect(), List.of()));
    assertSame(otherSsd, choose(redirect(), List.of(busyDisk)));
  }

  @Test
  void aTargetThatIsFullByNowIsNotChosen() throws IOException {
    Mockito.when(disk.getAvailable()).thenReturn(BLOCK_BYTES);
    assertSame(ssd, choose(redirect(), disks()));
  }

  @Test
  void aTargetThatFailsIsNotChosen() throws IOException {
    Mockito.when(disk.getAvailable()).thenThrow(new IOException("no such folder"));
    assertSame(ssd, choose(redirect(), disks()));
  }

  /** The store removes each from its own list, which has no SSDs. */
  @Test
  void volumesThatAreClosedAreChosenOnceEach() throws IOException {
    Redirect<FsVolumeSpi> redirect = redirect();
    List<FsVolumeSpi> offered = disks();
    List<FsVolumeSpi> chosen = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      chosen.add(choose(redirect, offered));
      offered.remove(chosen.get(i));
    }
    assertEquals(List.of(disk, ssd, otherSsd), chosen);
    assertThrows(DiskOutOfSpaceException.class, () -> choose(redirect, offered));
  }

  @Test
  void onlyChoicesFromTheSameListAreForItsReplica() {
    Redirect<FsVolumeSpi> redirect = redirect();
    List<FsVolumeSpi> offered = disks();
    assertTrue(redirect.isFor(offered));
    offered.remove(disk);
    assertTrue(redirect.isFor(offered));
    assertFalse(redirect.isFor(new ArrayList<>(offered)));
  }
}
