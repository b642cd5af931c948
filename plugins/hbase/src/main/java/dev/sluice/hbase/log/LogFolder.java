package dev.sluice.hbase.log;

import dev.sluice.local.redirect.Tier;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.wal.AbstractFSWALProvider;

/** The folder of a region server's logs, whose storage policy says which tier new ones are on. */
final class LogFolder implements LogMover.Logs {
  /** Storage policies of HDFS that mean a tier. */
  static final Map<Tier, String> POLICY_KEYS =
      Map.of(Tier.FAST, "sluice.wal.fast.policy", Tier.SLOW, "sluice.wal.slow.policy");

  private static final Map<Tier, String> DEFAULT_POLICIES =
      Map.of(Tier.FAST, "ALL_SSD", Tier.SLOW, "HOT");

  private final HRegionServer server;

  LogFolder(HRegionServer server) {
    this.server = server;
  }

  /** Whether the file system has storage policies. */
  static boolean isPossible(HRegionServer server) {
    return "hdfs".equals(server.getWALFileSystem().getUri().getScheme());
  }

  /** Sets the policy, and has every log rolled: the file that is open stays where it is. */
  @Override
  public void moveTo(Optional<Tier> tier) throws IOException {
    FileSystem files = server.getWALFileSystem();
    String name = AbstractFSWALProvider.getWALDirectoryName(server.getServerName().toString());
    Path folder = new Path(server.getWALRootDir(), name);
    Optional<String> policy = policy(server.getConfiguration(), tier);
    if (policy.isPresent()) {
      files.setStoragePolicy(folder, policy.get());
    } else {
      files.unsetStoragePolicy(folder);
    }
    server.getWalRoller().requestRollAll();
  }

  /**
   * The tier that the logs have to be moved to for an order; empty where they are without it where
   * it wants them.
   */
  static Optional<Tier> tierToMoveTo(Configuration conf, Optional<Tier> ordered) {
    boolean isThere = policy(conf, ordered).equals(policy(conf, Optional.empty()));
    return isThere ? Optional.empty() : ordered;
  }

  /** The storage policy of a tier; empty where HDFS decides. */
  static Optional<String> policy(Configuration conf, Optional<Tier> tier) {
    if (tier.isPresent()) {
      return Optional.of(
          conf.getTrimmed(POLICY_KEYS.get(tier.get()), DEFAULT_POLICIES.get(tier.get())));
    }
    String own = conf.get(HConstants.WAL_STORAGE_POLICY, HConstants.DEFAULT_WAL_STORAGE_POLICY);
    // As CommonFSUtils.setStoragePolicy reads it: nothing, or NONE in any case, is no policy.
    return Optional.of(own.trim())
        .filter(text -> !text.isEmpty())
        .filter(text -> !text.equalsIgnoreCase(HConstants.DEFER_TO_HDFS_STORAGE_POLICY));
  }
}
