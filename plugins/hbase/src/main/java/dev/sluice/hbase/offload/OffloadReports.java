package dev.sluice.hbase.offload;

import dev.sluice.hbase.regionserver.PluginPart;
import dev.sluice.hbase.regionserver.RegionServerPlugin;

/** Shows in snapshots what has become of compactions that could have been done elsewhere. */
public final class OffloadReports implements PluginPart {
  @Override
  public void attach(RegionServerPlugin plugin) {
    plugin.registerReporter(OffloadCounts.ofProcess());
  }
}
