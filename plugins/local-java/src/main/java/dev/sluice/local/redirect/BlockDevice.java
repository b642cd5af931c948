package dev.sluice.local.redirect;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;

/**
 * The block device below a file, as the kernel counts its requests. Source: {@code
 * Documentation/admin-guide/iostats.rst} of Linux. It is read from procfs, of which containers see
 * more than of sysfs.
 */
public final class BlockDevice {
  /** Where the kernel shows all devices. */
  public static final Path DISKSTATS = Path.of("/proc/diskstats");

  // Fields of a line, from its major and minor number and its name on.
  private static final int FIELDS = 12;
  private static final int SECTORS_WRITTEN = 9;
  private static final int IN_FLIGHT = 11;
  private static final int SECTOR_BYTES = 512;

  /**
   * A reading of a device.
   *
   * @param queueRequests requests that have been issued and are not done
   * @param writtenBytes since the device is there
   */
  public record Reading(long queueRequests, long writtenBytes) {}

  private final long major;
  private final long minor;
  private final Path diskstats;

  private BlockDevice(long major, long minor, Path diskstats) {
    this.major = major;
    this.minor = minor;
    this.diskstats = diskstats;
  }

  /** What the file system of a file is on; empty if there is no such file. */
  static Optional<BlockDevice> below(Path file, Path diskstats) {
    try {
      return Optional.of(of((Long) Files.getAttribute(file, "unix:dev"), diskstats));
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /** The device of a number as stat(2) gives it. */
  static BlockDevice of(long number, Path diskstats) {
    // The layout of makedev(3) in glibc.
    long major = number >>> 8 & 0xfff | number >>> 32 & ~0xfffL;
    long minor = number & 0xff | number >>> 12 & 0xffffff00L;
    return new BlockDevice(major, minor, diskstats);
  }

  /**
   * What the device has to do now; empty if it is not shown: it is gone, or the file system is in
   * memory, on the network or on several devices.
   */
  Optional<Reading> read() {
    try {
      return Files.readAllLines(diskstats).stream()
          .map(line -> line.strip().split("\\s+"))
          .filter(this::isOwn)
          .findFirst()
          .flatMap(BlockDevice::parse);
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private boolean isOwn(String[] fields) {
    String[] numbers = {Long.toString(major), Long.toString(minor)};
    return fields.length >= FIELDS && Arrays.equals(numbers, Arrays.copyOf(fields, 2));
  }

  private static Optional<Reading> parse(String[] fields) {
    try {
      return Optional.of(
          new Reading(
              Long.parseLong(fields[IN_FLIGHT]),
              Long.parseLong(fields[SECTORS_WRITTEN]) * SECTOR_BYTES));
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }
}
