package dev.sluice.hdfs;

import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.plugin.ConfiguredNumber;
import dev.sluice.local.redirect.RedirectSettings;
import java.util.Arrays;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.DFSConfigKeys;

/** What the DataNode's configuration says of redirects. */
final class PlacementSettings {
  static final String PREFIX = "sluice.redirect.";

  /** Block sizes of the files that may be redirected, with commas between; none for all files. */
  static final String BLOCK_SIZES_KEY = PREFIX + "block.bytes";

  private final RedirectSettings redirects;
  private final long defaultBlockBytes;
  private final Set<Long> blockSizes;

  /** Reads them; raises IllegalArgumentException, with the key, where a value is none. */
  PlacementSettings(LeaseStore leases, Configuration conf) {
    defaultBlockBytes =
        conf.getLongBytes(DFSConfigKeys.DFS_BLOCK_SIZE_KEY, DFSConfigKeys.DFS_BLOCK_SIZE_DEFAULT);
    // HBase gives its logs blocks of twice the size of others.
    redirects = new RedirectSettings(leases, conf::get, PREFIX, 2.0 * defaultBlockBytes);
    blockSizes =
        Arrays.stream(conf.getTrimmedStrings(BLOCK_SIZES_KEY))
            .map(PlacementSettings::blockSize)
            .collect(Collectors.toUnmodifiableSet());
  }

  private static long blockSize(String text) {
    OptionalDouble bytes = ConfiguredNumber.parse(text, 1, Long.MAX_VALUE);
    if (bytes.isEmpty() || bytes.getAsDouble() != Math.rint(bytes.getAsDouble())) {
      throw new IllegalArgumentException(
          BLOCK_SIZES_KEY + " has \"" + text + "\": give whole numbers of bytes from 1 on");
    }
    return (long) bytes.getAsDouble();
  }

  RedirectSettings redirects() {
    return redirects;
  }

  /** Size that blocks have unless their file says otherwise. */
  long defaultBlockBytes() {
    return defaultBlockBytes;
  }

  /** Whether files of a block size are of a stream that may be redirected. */
  boolean mayRedirect(long blockBytes) {
    return blockSizes.isEmpty() || blockSizes.contains(blockBytes);
  }
}
