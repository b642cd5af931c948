package dev.sluice.local.redirect;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The block device below a file, as the kernel counts its requests. Source: {@code
 * Documentation/block/stat.rst} of Linux.
 */
public final class BlockDevice {
  /** Where the kernel shows devices by their numbers. */
  public static final Path SYSFS = Path.of("/sys/dev/block");

  private static final int FIELDS = 9;
  private static final int SECTORS_WRITTEN = 6;
  private static final int IN_FLIGHT = 8;
  private static final int SECTOR_BYTES = 512;

  /**
   * A reading of a device.
   *
   * @param queueRequests requests that have been issued and are not done
   * @param writtenBytes since the device is there
   */
  public record Reading(long queueRequests, long writtenBytes) {}

  private final Path stat;

  private BlockDevice(Path stat) {
    this.stat = stat;
  }

  /**
   * The device that the file system of a file is on, if it is on one: that of a file system in
   * memory, on the network or of several devices has no numbers in sysfs.
   */
  public static Optional<BlockDevice> below(Path file, Path sysfs) {
    try {
      return of((Long) Files.getAttribute(file, "unix:dev"), sysfs);
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /** The device of a number as stat(2) gives it. */
  static Optional<BlockDevice> of(long number, Path sysfs) {
    // The layout of makedev(3) in glibc.
    long major = number >>> 8 & 0xfff | number >>> 32 & ~0xfffL;
    long minor = number & 0xff | number >>> 12 & 0xffffff00L;
    Path stat = sysfs.resolve(major + ":" + minor).resolve("stat");
    return Files.isReadable(stat) ? Optional.of(new BlockDevice(stat)) : Optional.empty();
  }

  /** What the device has to do now; empty if it is gone. */
  public Optional<Reading> read() {
    try {
      return parse(Files.readString(stat));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  static Optional<Reading> parse(String line) {
    String[] fields = line.strip().split("\\s+");
    if (fields.length < FIELDS) {
      return Optional.empty();
    }
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
