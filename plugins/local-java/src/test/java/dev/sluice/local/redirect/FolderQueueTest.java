package dev.sluice.local.redirect;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FolderQueueTest {
  @TempDir private Path folder;

  private Path diskstats() {
    return folder.resolve("diskstats");
  }

  /** Has the kernel show the device below the folder. */
  private void show(long requests) throws IOException {
    long number = (Long) Files.getAttribute(folder, "unix:dev");
    long major = number >>> 8 & 0xfff;
    long minor = number & 0xff | number >>> 12 & 0xfff00;
    String line = "%d %d sda 0 0 0 0 0 0 0 0 %d 0 0%n".formatted(major, minor, requests);
    Files.writeString(diskstats(), line);
  }

  @Test
  void itIsThatOfTheDeviceNow() throws IOException {
    FolderQueue queue = new FolderQueue(folder, diskstats());
    show(3);
    assertEquals(OptionalLong.of(3), queue.requests());
    show(0);
    assertEquals(OptionalLong.of(0), queue.requests());
  }

  @Test
  void aFolderThatIsMadeLaterIsFound() throws IOException {
    Path later = folder.resolve("later");
    FolderQueue queue = new FolderQueue(later, diskstats());
    show(3);
    assertEquals(OptionalLong.empty(), queue.requests());
    Files.createDirectory(later);
    assertEquals(OptionalLong.of(3), queue.requests());
  }

  @Test
  void aDeviceThatWasGoneIsFoundAgain() throws IOException {
    FolderQueue queue = new FolderQueue(folder, diskstats());
    show(3);
    queue.requests();
    Files.delete(diskstats());
    assertEquals(OptionalLong.empty(), queue.requests());
    show(4);
    assertEquals(OptionalLong.of(4), queue.requests());
  }
}
