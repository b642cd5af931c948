package dev.sluice.local.redirect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BlockDeviceTest {
  // What the kernel writes for disks of which the second has three requests in flight.
  private static final String LINES =
      """
         7       0 loop0 11 0 28 0 0 0 0 0 0 4 0 0 0 0 0 0 0
         8       1 sda1 4087 111 283026 17205 9862 7001 412336 32190 3 14400 49395 0 0 0 0 0 0
       259     300 nvme0n1 1 2 3 4 5 6 7 8 9 10 11 0 0 0 0 0 0
      4099       5 other 1 2 3 4 5 6 7 8 9 10 11
         8      16 short 1 2 3
         8      32 wrong a b c d e f g h i j k
      """;

  @TempDir private Path folder;
  private Path diskstats;

  @BeforeEach
  void write() throws IOException {
    diskstats = folder.resolve("diskstats");
    Files.writeString(diskstats, LINES);
  }

  private Optional<BlockDevice.Reading> read(long number) {
    return BlockDevice.of(number, diskstats).read();
  }

  @Test
  void aReadingHasTheQueueAndTheBytes() {
    BlockDevice.Reading reading = read(0x801).orElseThrow();
    assertEquals(3, reading.queueRequests());
    assertEquals(412_336L * 512, reading.writtenBytes());
  }

  @Test
  void largeNumbersOfDevicesAreTakenApart() {
    // makedev(259, 300), and makedev(4099, 5).
    assertTrue(read(0x11032cL).isPresent());
    assertTrue(read(0x1000_0000_0305L).isPresent());
  }

  @Test
  void aFileSystemWithoutADeviceHasNone() {
    assertEquals(Optional.empty(), read(0x802));
    assertEquals(Optional.empty(), BlockDevice.below(folder.resolve("missing"), diskstats));
  }

  @Test
  void aDeviceThatIsGoneHasNoReading() throws Exception {
    BlockDevice device = BlockDevice.of(0x801, diskstats);
    assertTrue(device.read().isPresent());
    Files.writeString(diskstats, "");
    assertEquals(Optional.empty(), device.read());
    Files.delete(diskstats);
    assertEquals(Optional.empty(), device.read());
  }

  @Test
  void whatIsNoReadingIsNone() {
    assertEquals(Optional.empty(), read(0x810));
    assertEquals(Optional.empty(), read(0x820));
  }
}
