package dev.sluice.hbase.offload;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.regionserver.HRegionFileSystem;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The folder of one job in a region's {@code .tmp}, which upstream empties when it opens the
 * region. A worker makes it, and the region server removes it.
 */
final class JobFolder {
  static final String PREFIX = ".sluice-compaction-";

  private static final Logger LOG = LoggerFactory.getLogger(JobFolder.class);

  /**
   * After how long it is removed once more: an agent that is given up has killed its worker by
   * then, 5 s after it was last heard of and 2 s more. A file that is open loses its name with the
   * folder, and HDFS lets nobody write to it, but a worker could have been about to make its first
   * one.
   */
  private static final long AGAIN_SECONDS = 15;

  private static final ScheduledExecutorService LATER =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread thread = new Thread(task, "sluice-offload-sweeper");
            thread.setDaemon(true);
            return thread;
          });

  private final FileSystem fileSystem;
  private final Path region;
  private final Path folder;
  private final Path destination;
  private final String family;

  JobFolder(HStore store, String id) {
    HRegionFileSystem files = store.getRegionFileSystem();
    fileSystem = files.getFileSystem();
    region = fileSystem.makeQualified(files.getRegionDir());
    family = store.getColumnFamilyName();
    Path temporary = fileSystem.makeQualified(files.getTempDir());
    folder = new Path(temporary, PREFIX + id);
    destination = new Path(temporary, family);
  }

  String regionLocation() {
    return region.toString();
  }

  String location() {
    return folder.toString();
  }

  Path output(String name) throws StaysLocalException {
    if (!name.matches("[0-9a-f]{1,64}")) {
      throw new StaysLocalException(Reasons.INVALID, "\"" + name + "\" is no name of an output");
    }
    return new Path(new Path(folder, family), name);
  }

  /** Puts outputs where the store's own compactor has them, out of the reach of the worker. */
  List<Path> moveOut(List<Path> outputs) throws IOException {
    fileSystem.mkdirs(destination);
    List<Path> moved = new ArrayList<>();
    for (Path output : outputs) {
      Path target = new Path(destination, output.getName());
      if (!fileSystem.rename(output, target)) {
        removeAll(moved);
        throw new IOException(output + " cannot be renamed to " + target);
      }
      moved.add(target);
    }
    return moved;
  }

  private void removeAll(List<Path> files) {
    files.forEach(this::remove);
  }

  /** Removes it, where no worker can be at work any more. */
  void remove() {
    remove(folder);
  }

  /** Removes it now, and once more when no worker can be at work any more. */
  void removeNowAndLater() {
    remove(folder);
    LATER.schedule(() -> remove(folder), AGAIN_SECONDS, TimeUnit.SECONDS);
  }

  /** What cannot be removed now is removed when the region is opened again. */
  private void remove(Path path) {
    try {
      fileSystem.delete(path, true);
    } catch (FileNotFoundException e) {
      LOG.debug("{} is gone already", path);
    } catch (IOException e) {
      LOG.warn("{} stays until the region is opened again", path, e);
    }
  }
}
