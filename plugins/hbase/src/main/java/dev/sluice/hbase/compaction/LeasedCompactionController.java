package dev.sluice.hbase.compaction;

import dev.sluice.hbase.regionserver.LeasedController;
import dev.sluice.hbase.regionserver.OperationPace;
import dev.sluice.hbase.regionserver.RegionServerPlugin;
import dev.sluice.hbase.regionserver.UpstreamPace;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionContext;
import org.apache.hadoop.hbase.regionserver.throttle.CompactionThroughputControllerFactory;
import org.apache.hadoop.hbase.regionserver.throttle.PressureAwareCompactionThroughputController;
import org.apache.hadoop.hbase.regionserver.throttle.ThroughputController;

/** What the store asks about its compactions. */
public final class LeasedCompactionController extends LeasedController {
  // Null where the store's own controller is asked.
  private volatile CompactionPart part;

  /** The part that a controller asks, if it asks one. */
  static Optional<CompactionPart> partOf(ThroughputController controller) {
    return controller instanceof LeasedCompactionController leased
        ? Optional.ofNullable(leased.part)
        : Optional.empty();
  }

  @Override
  protected OperationPace part(RegionServerPlugin plugin) {
    CompactionPart found = plugin.part(CompactionPart.class);
    found.configure(getConf());
    part = found;
    return found;
  }

  @Override
  protected ThroughputController upstream(Configuration conf) {
    return UpstreamPace.controller(
        CompactionPart.STOCK_CONTROLLER_KEY,
        PressureAwareCompactionThroughputController.class,
        conf);
  }

  /** A hook of the patched store, and never called by another. */
  public boolean reconfigure(Configuration conf) {
    String named = conf.get(CompactionThroughputControllerFactory.HBASE_THROUGHPUT_CONTROLLER_KEY);
    if (part == null || !getClass().getName().equals(named)) {
      return false;
    }
    setConf(conf);
    part.configure(conf);
    return true;
  }

  /** A hook of the patched store, and never called by another. */
  public boolean defer(
      HStore store, CompactionContext selected, int priority, long queuedAt, Runnable resubmit) {
    return part != null
        && !isStopped()
        && part.defer(store, selected, priority, queuedAt, resubmit);
  }
}
