package dev.sluice.hbase.flush;

import dev.sluice.hbase.regionserver.RegionServerPlugin;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.regionserver.throttle.ThroughputController;

/** What the store asks about its flushes; as the one of compactions it has no state of its own. */
public final class LeasedFlushController extends Configured implements ThroughputController {
  private volatile FlushPart part;
  private volatile boolean stopped;

  @Override
  public void setup(RegionServerServices server) {
    part = RegionServerPlugin.of(server).part(FlushPart.class);
    part.configure(getConf());
  }

  @Override
  public void start(String name) {
    part.start(name);
  }

  @Override
  public long control(String name, long size) {
    return part.written(name, size);
  }

  @Override
  public void finish(String name) {
    part.finish(name);
  }

  @Override
  public void stop(String why) {
    stopped = true;
  }

  @Override
  public boolean isStopped() {
    return stopped;
  }

  @Override
  public String toString() {
    return "LeasedFlushController";
  }
}
