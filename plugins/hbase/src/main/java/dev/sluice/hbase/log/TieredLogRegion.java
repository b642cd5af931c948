package dev.sluice.hbase.log;

import java.io.IOException;
import java.util.Collection;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.monitoring.MonitoredTask;
import org.apache.hadoop.hbase.regionserver.FlushLifeCycleTracker;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.apache.hadoop.hbase.wal.WAL;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A region that can be replayed from two logs at once, which a server has by {@code
 * hbase.hregion.impl}. A replay that fills the memory is flushed while it goes on, and upstream has
 * the files say that all is flushed up to the edit that was replayed last. Of two logs the other
 * has earlier ones still: when the replay ends before it gets there, the next would skip them.
 */
public final class TieredLogRegion extends HRegion {
  private static final Logger LOG = LoggerFactory.getLogger(TieredLogRegion.class);

  /** Called by {@link HRegion#newHRegion}. */
  @SuppressWarnings("deprecation")
  public TieredLogRegion(
      Path table,
      WAL log,
      FileSystem files,
      Configuration conf,
      RegionInfo info,
      TableDescriptor descriptor,
      RegionServerServices services) {
    super(table, log, files, conf, info, descriptor, services);
  }

  /** A flush that goes by no log is one of a replay. */
  @Override
  protected FlushResultImpl internalFlushcache(
      WAL log,
      long number,
      Collection<HStore> stores,
      MonitoredTask status,
      boolean writesMarker,
      FlushLifeCycleTracker tracker)
      throws IOException {
    long flushed = log == null ? replayed(number) : number;
    return super.internalFlushcache(log, flushed, stores, status, writesMarker, tracker);
  }

  private long replayed(long number) {
    try {
      FileSystem files = CommonFSUtils.getWALFileSystem(conf);
      return RecoveredEdits.replayed(RecoveredEdits.in(getWALRegionDir(), files, conf), number);
    } catch (IOException e) {
      // The replay would take the exception for one of the file that it reads, and drop that.
      LOG.warn("{}: edits are replayed anew if this replay is interrupted", this, e);
      return 0;
    }
  }
}
