package dev.sluice.hbase.offload;

import dev.sluice.hbase.compaction.CountingCompactor;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionRequestImpl;
import org.apache.hadoop.hbase.regionserver.throttle.ThroughputController;
import org.apache.hadoop.hbase.security.User;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A compactor that has another node do the work, where there is one that is less loaded, and does
 * it by itself whatever goes wrong.
 */
public final class OffloadingCompactor extends CountingCompactor {
  /**
   * Absolute path of the socket of the node's agent. Without it, or with {@link #NONE}, all is done
   * here and nothing is counted.
   */
  public static final String SOCKET_KEY = "sluice.compaction.offload.socket";

  /** For a table, where the server has a socket: a table's value cannot be empty. */
  public static final String NONE = "none";

  private static final Logger LOG = LoggerFactory.getLogger(OffloadingCompactor.class);

  private final OffloadCounts counts = OffloadCounts.ofProcess();
  private final Optional<Path> socket;

  /** Called by the store for each family. */
  public OffloadingCompactor(Configuration conf, HStore store) {
    super(conf, store);
    socket = socket(conf.getTrimmed(SOCKET_KEY, ""));
  }

  /** Never throws: a region whose table has a wrong value has to open nevertheless. */
  static Optional<Path> socket(String value) {
    if (value.isEmpty() || value.equals(NONE)) {
      return Optional.empty();
    }
    try {
      Path path = Path.of(value);
      if (path.isAbsolute()) {
        return Optional.of(path);
      }
    } catch (InvalidPathException e) {
      // It is told below, like one that is not absolute.
    }
    LOG.error(
        "compactions stay here: {} is \"{}\": set it to the absolute path of the agent's socket",
        SOCKET_KEY,
        value);
    return Optional.empty();
  }

  @Override
  protected List<org.apache.hadoop.fs.Path> merge(
      CompactionRequestImpl request, ThroughputController control, User user) throws IOException {
    if (socket.isPresent()) {
      try {
        Eligibility.check(store, request);
        List<org.apache.hadoop.fs.Path> files =
            new RemoteCompaction(store, conf, request).run(socket.get(), control);
        counts.done(request.getSize());
        return files;
      } catch (StaysLocalException e) {
        counts.local(e.reason());
        LOG.info("{} is compacted here ({}): {}", store, e.reason(), e.getMessage());
      } catch (RuntimeException e) {
        counts.local(Reasons.FAILED);
        LOG.warn("{} is compacted here: the job could not be offered", store, e);
      }
    }
    return super.merge(request, control, user);
  }
}
