package dev.sluice.hbase.log;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.io.asyncfs.monitor.StreamSlowMonitor;
import org.apache.hadoop.hbase.regionserver.wal.ProtobufLogWriter;
import org.apache.hadoop.hbase.util.CommonFSUtils.StreamLacksCapabilityException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A writer of a log whose file has a storage policy of its own, beside others in its folder. */
public final class TierLogWriter extends ProtobufLogWriter {
  /** The storage policy; without it the file has that of its folder. */
  static final String POLICY_KEY = "sluice.wal.policy";

  private static final Logger LOG = LoggerFactory.getLogger(TierLogWriter.class);

  private String policy;

  @Override
  public void init(
      FileSystem files,
      Path path,
      Configuration conf,
      boolean overwritable,
      long blockBytes,
      StreamSlowMonitor monitor)
      throws IOException, StreamLacksCapabilityException {
    policy = conf.get(POLICY_KEY);
    super.init(files, path, conf, overwritable, blockBytes, monitor);
  }

  /**
   * Sets the policy while the file has no block yet: the first is asked for with the first sync.
   */
  @Override
  protected void initOutput(
      FileSystem files,
      Path path,
      boolean overwritable,
      int bufferBytes,
      short replication,
      long blockBytes,
      StreamSlowMonitor monitor,
      boolean noLocalWrite)
      throws IOException, StreamLacksCapabilityException {
    super.initOutput(
        files, path, overwritable, bufferBytes, replication, blockBytes, monitor, noLocalWrite);
    if (policy == null) {
      return;
    }
    try {
      files.setStoragePolicy(path, policy);
    } catch (IOException | UnsupportedOperationException e) {
      // A log where its folder says is better than none.
      LOG.warn("{} has not the storage policy {}", path, policy, e);
    }
  }
}
