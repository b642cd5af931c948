package dev.sluice.local.redirect;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FolderQueueTest {
  /** On a file system of the kernel's own, and so on another device than any folder of a test. */
  private static final Path ELSEWHERE = Path.of("/proc");

  @TempDir private Path folder;
  private ShownDevices devices;

  @BeforeEach
  void showNone() {
    devices = new ShownDevices(folder.resolve("diskstats"));
  }

  private FolderQueue queueOf(Path below) {
    return new FolderQueue(below, devices.diskstats());
  }

  @Test
  void itIsThatOfTheDeviceNow() throws IOException {
    FolderQueue queue = queueOf(folder);
    devices.show(folder, 3);
    assertEquals(OptionalLong.of(3), queue.requests());
    devices.show(folder, 0);
    assertEquals(OptionalLong.of(0), queue.requests());
  }

  @Test
  void aFolderThatIsMadeLaterIsFound() throws IOException {
    Path later = folder.resolve("later");
    FolderQueue queue = queueOf(later);
    devices.show(folder, 3);
    assertEquals(OptionalLong.empty(), queue.requests());
    Files.createDirectory(later);
    assertEquals(OptionalLong.of(3), queue.requests());
  }

  /** Until then the folder is on the device of what it is in, which has a queue as well. */
  @Test
  void aFileSystemThatIsMountedLaterIsFound() throws IOException {
    devices.show(folder, 3);
    devices.show(ELSEWHERE, 5);
    Path mountPoint = folder.resolve("mount-point");
    Files.createDirectory(mountPoint);
    FolderQueue queue = queueOf(mountPoint);
    assertEquals(OptionalLong.of(3), queue.requests());
    Files.delete(mountPoint);
    Files.createSymbolicLink(mountPoint, ELSEWHERE);
    assertEquals(OptionalLong.of(5), queue.requests());
  }

  @Test
  void aDeviceThatWasGoneIsFoundAgain() throws IOException {
    FolderQueue queue = queueOf(folder);
    devices.show(folder, 3);
    queue.requests();
    devices.hide();
    assertEquals(OptionalLong.empty(), queue.requests());
    devices.show(folder, 4);
    assertEquals(OptionalLong.of(4), queue.requests());
  }
}
