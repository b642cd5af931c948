package dev.sluice.hbase.compaction;

import dev.sluice.hbase.pace.Operation;
import java.util.Optional;
import org.apache.hadoop.hbase.regionserver.HRegion;

/**
 * A compaction between its start and its end.
 *
 * @param id as snapshots name it
 * @param region null if it is not open on this server
 * @param meter empty if the compactor of its family does not count what it reads
 */
record RunningCompaction(
    String id, Operation operation, HRegion region, Optional<ReadMeter> meter) {

  /**
   * Whether its region goes on: one that closes waits for its compactions, and drops their work.
   */
  boolean isWanted() {
    return region == null || region.areWritesEnabled();
  }

  /** Whether it is one of the tables that the store itself cannot do without: nothing slows it. */
  boolean isOfSystem() {
    return region != null && region.getRegionInfo().getTable().isSystemTable();
  }

  /** Size of its files, never less than what is done; 0 if it is not known. */
  long totalBytes() {
    long total = meter.map(ReadMeter::totalBytes).orElse(0L);
    return total == 0 ? 0 : Math.max(total, operation.doneBytes());
  }

  String phase() {
    return meter.map(each -> each.isMajor() ? "major" : "minor").orElse("");
  }
}
