package dev.sluice.hbase.master;

import dev.sluice.local.protocol.Snapshot;
import dev.sluice.local.protocol.SnapshotReporter;
import java.util.Collection;
import java.util.SortedSet;
import org.apache.hadoop.hbase.RegionMetrics;
import org.apache.hadoop.hbase.ServerMetrics;
import org.apache.hadoop.hbase.Size;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.master.MasterServices;
import org.apache.hadoop.hbase.master.RegionState;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;

/** What the master knows of its cluster: regions on their way, and what region servers report. */
final class ClusterFigures implements SnapshotReporter {
  private static final double MILLIS_PER_SECOND = 1e3;

  private final MasterServices services;

  ClusterFigures(MasterServices services) {
    this.services = services;
  }

  @Override
  public void report(Snapshot.Builder snapshot) {
    reportTransitions(snapshot);
    Collection<ServerMetrics> servers = services.getServerManager().getOnlineServers().values();
    snapshot.figure("live_servers", servers.size());
    snapshot.figure("dead_servers", services.getServerManager().getDeadServers().size());
    Sums sums = new Sums();
    for (ServerMetrics server : servers) {
      server.getRegionMetrics().values().forEach(sums::add);
    }
    sums.report(snapshot);
  }

  private void reportTransitions(Snapshot.Builder snapshot) {
    SortedSet<RegionState> transitions =
        services
            .getAssignmentManager()
            .getRegionStates()
            .getRegionsInTransitionOrderedByTimestamp();
    snapshot.figure("transition_regions", transitions.size());
    long oldestMillis =
        transitions.isEmpty()
            ? 0
            : EnvironmentEdgeManager.currentTime() - transitions.first().getStamp();
    snapshot.figure("transition_oldest_seconds", Math.max(0, oldestMillis) / MILLIS_PER_SECOND);
  }

  /** Over all regions, as of the last reports of their servers. */
  private static final class Sums {
    private long regions;
    private long compacting;
    private long cells;
    private long cellsDone;
    private long files;
    private double fileBytes;

    private void add(RegionMetrics region) {
      regions++;
      files += region.getStoreFileCount();
      fileBytes += region.getStoreFileSize().get(Size.Unit.BYTE);
      CompactionState state = region.getCompactionState();
      if (state != null && state != CompactionState.NONE) {
        compacting++;
        cells += region.getCompactingCellCount();
        cellsDone += region.getCompactedCellCount();
      }
    }

    private void report(Snapshot.Builder snapshot) {
      snapshot.figure("open_regions", regions);
      snapshot.figure("compacting_regions", compacting);
      snapshot.figure("compacting_cells", cells);
      snapshot.figure("compacted_cells", cellsDone);
      snapshot.figure("store_files", files);
      snapshot.figure("store_file_bytes", fileBytes);
    }
  }
}
