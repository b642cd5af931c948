package dev.sluice.local.redirect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BlockDeviceTest {
  // As the kernel wrote it for a disk with three requests in flight.
  private static final String LINE =
      "    4087      111   283026    17205     9862     7001   412336    32190        3    14400"
          + "    49395        0        0        0        0        0        0\n";

  @TempDir private Path sysfs;

  private void write(String device, String line) throws IOException {
    Files.createDirectories(sysfs.resolve(device));
    Files.writeString(sysfs.resolve(device).resolve("stat"), line);
  }

  @Test
  void aReadingHasTheQueueAndTheBytes() throws Exception {
    write("8:1", LINE);
    BlockDevice device = BlockDevice.of(0x801, sysfs).orElseThrow();
    BlockDevice.Reading reading = device.read().orElseThrow();
    assertEquals(3, reading.queueRequests());
    assertEquals(412_336L * 512, reading.writtenBytes());
  }

  @Test
  void largeNumbersOfDevicesAreTakenApart() throws Exception {
    // makedev(259, 300), and makedev(4099, 5).
    write("259:300", LINE);
    write("4099:5", LINE);
    assertTrue(BlockDevice.of(0x11032cL, sysfs).isPresent());
    assertTrue(BlockDevice.of(0x1000_0000_0305L, sysfs).isPresent());
  }

  @Test
  void aFileSystemWithoutADeviceHasNone() {
    assertEquals(Optional.empty(), BlockDevice.below(sysfs, sysfs));
    assertEquals(Optional.empty(), BlockDevice.below(sysfs.resolve("missing"), sysfs));
  }

  @Test
  void aDeviceThatIsGoneHasNoReading() throws Exception {
    write("8:1", LINE);
    BlockDevice device = BlockDevice.of(0x801, sysfs).orElseThrow();
    Files.delete(sysfs.resolve("8:1").resolve("stat"));
    assertEquals(Optional.empty(), device.read());
  }

  @Test
  void whatIsNoReadingIsNone() {
    assertEquals(Optional.empty(), BlockDevice.parse("1 2 3"));
    assertEquals(Optional.empty(), BlockDevice.parse("a b c d e f g h i"));
  }
}
