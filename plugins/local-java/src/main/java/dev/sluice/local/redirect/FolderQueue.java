package dev.sluice.local.redirect;

import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The queue of the device that a folder is on. The device is looked for again while it has no
 * reading: the folder may be made, and its file system mounted, later. Not safe for threads.
 */
public final class FolderQueue {
  private final Path folder;
  private final Path diskstats;
  private Optional<BlockDevice> device = Optional.empty();

  /** The queue below a folder, by a file as {@link BlockDevice#DISKSTATS}. */
  public FolderQueue(Path folder, Path diskstats) {
    this.folder = folder;
    this.diskstats = diskstats;
  }

  /** Requests that the device has to do now; empty where that cannot be known. */
  public OptionalLong requests() {
    if (device.isEmpty()) {
      device = BlockDevice.below(folder, diskstats);
    }
    Optional<BlockDevice.Reading> reading = device.flatMap(BlockDevice::read);
    if (reading.isEmpty()) {
      device = Optional.empty();
      return OptionalLong.empty();
    }
    return OptionalLong.of(reading.get().queueRequests());
  }

  @Override
  public String toString() {
    return folder.toString();
  }
}
