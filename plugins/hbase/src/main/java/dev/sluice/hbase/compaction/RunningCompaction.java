package dev.sluice.hbase.compaction;

import dev.sluice.hbase.pace.Operation;
import java.util.Optional;
import org.apache.hadoop.hbase.regionserver.HRegion;

/**
 * A compaction between its start and its end.
 *
 * @param id as snapshots name it
 * @param region null if it is not known: not open on this server yet, and not counted
 * @param meter empty if the compactor of its family does not count what it reads
 */
record RunningCompaction(
    String id, Operation operation, HRegion region, Optional<ReadMeter> meter) {

  /** The same, once its region is known. */
  RunningCompaction in(HRegion found) {
    return new RunningCompaction(id, operation, found, meter);
  }

  /**
   * Whether its region goes on: one that closes waits for its compactions, and drops their work.
   */
  boolean isWanted() {
    return region == null || region.areWritesEnabled();
  }

  /**
   * Whether nothing slows it: it is of a table that the store itself cannot do without, or may be.
   */
  boolean isFree() {
    return region == null || region.getRegionInfo().getTable().isSystemTable();
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
