package dev.sluice.local.redirect;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/** Devices that the kernel shows, in a file that a test has instead of its own. */
public final class ShownDevices {
  private final Path diskstats;
  private final Map<Long, Long> queues = new TreeMap<>();

  /** Shows none yet: the file is not there. */
  public ShownDevices(Path diskstats) {
    this.diskstats = diskstats;
  }

  public Path diskstats() {
    return diskstats;
  }

  /** Shows the device below a folder, with so many requests to do. */
  public void show(Path folder, long requests) throws IOException {
    queues.put((Long) Files.getAttribute(folder, "unix:dev"), requests);
    StringBuilder lines = new StringBuilder();
    queues.forEach((number, queue) -> lines.append(line(number, queue)));
    Files.writeString(diskstats, lines);
  }

  private static String line(long number, long requests) {
    long major = number >>> 8 & 0xfff;
    long minor = number & 0xff | number >>> 12 & 0xfff00;
    return "%d %d sda 0 0 0 0 0 0 0 0 %d 0 0%n".formatted(major, minor, requests);
  }

  /** Shows none any more. */
  public void hide() throws IOException {
    queues.clear();
    Files.delete(diskstats);
  }
}
