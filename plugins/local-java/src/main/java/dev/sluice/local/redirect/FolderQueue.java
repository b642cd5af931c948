package dev.sluice.local.redirect;

import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The queue of the device that a folder is on. The device is looked for each time: the folder may
 * be made later, and is on another one until its file system is mounted. Safe for threads.
 */
public final class FolderQueue {
  private final Path folder;
  private final Path diskstats;

  /** The queue below a folder, by a file as {@link BlockDevice#DISKSTATS}. */
  public FolderQueue(Path folder, Path diskstats) {
    this.folder = folder;
    this.diskstats = diskstats;
  }

  /** What the device has to do now; empty where that cannot be known. */
  public Optional<BlockDevice.Reading> read() {
    return BlockDevice.below(folder, diskstats).flatMap(BlockDevice::read);
  }

  /** Requests that the device has to do now; empty where that cannot be known. */
  public OptionalLong requests() {
    return read()
        .map(reading -> OptionalLong.of(reading.queueRequests()))
        .orElse(OptionalLong.empty());
  }

  @Override
  public String toString() {
    return folder.toString();
  }
}
