package dev.sluice.hbase.flush;

import dev.sluice.hbase.regionserver.LeasedController;
import dev.sluice.hbase.regionserver.OperationPace;
import dev.sluice.hbase.regionserver.RegionServerPlugin;
import dev.sluice.hbase.regionserver.UpstreamPace;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.regionserver.throttle.NoLimitThroughputController;
import org.apache.hadoop.hbase.regionserver.throttle.ThroughputController;

/** What the store asks about its flushes. */
public final class LeasedFlushController extends LeasedController {
  @Override
  protected OperationPace part(RegionServerPlugin plugin) {
    FlushPart part = plugin.part(FlushPart.class);
    part.configure(getConf());
    return part;
  }

  @Override
  protected ThroughputController upstream(Configuration conf) {
    return UpstreamPace.controller(
        FlushPart.STOCK_CONTROLLER_KEY, NoLimitThroughputController.class, conf);
  }
}
