package dev.sluice.hbase.offload;

import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.regionserver.throttle.ThroughputController;

/** Counts what a compaction emits, and holds nothing up: a worker is bounded by its priority. */
final class CellCounter implements ThroughputController {
  private long cells;
  private long bytes;

  long cells() {
    return cells;
  }

  long bytes() {
    return bytes;
  }

  @Override
  public long control(String name, long size) {
    cells++;
    bytes += size;
    return 0;
  }

  @Override
  public void setup(RegionServerServices server) {}

  @Override
  public void start(String name) {}

  @Override
  public void finish(String name) {}

  @Override
  public void stop(String why) {}

  @Override
  public boolean isStopped() {
    return false;
  }
}
