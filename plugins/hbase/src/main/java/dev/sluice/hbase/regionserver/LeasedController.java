package dev.sluice.hbase.regionserver;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.regionserver.throttle.ThroughputController;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A controller of the store that asks a part of the plug-in. It has no state of its own: the store
 * may make another one whenever it reads its configuration again, while operations go on with the
 * first. Where the part cannot be used the store's own controller is asked: the server must start.
 */
public abstract class LeasedController extends Configured implements ThroughputController {
  private static final Logger LOG = LoggerFactory.getLogger(LeasedController.class);

  private volatile OperationPace pace;
  private volatile boolean stopped;

  /** The part of the plug-in, with the configuration of this controller. */
  protected abstract OperationPace part(RegionServerPlugin plugin);

  /** A controller of the store's own, not set up yet. */
  protected abstract ThroughputController upstream(Configuration conf);

  @Override
  public void setup(RegionServerServices server) {
    try {
      pace = part(RegionServerPlugin.of(server));
    } catch (LinkageError | RuntimeException e) {
      ThroughputController upstream = upstream(getConf());
      LOG.error("{} takes no orders: {} is used instead", this, upstream, e);
      upstream.setup(server);
      pace = new UpstreamOperationPace(upstream);
    }
  }

  @Override
  public void start(String name) {
    pace.start(name);
  }

  @Override
  public long control(String name, long size) throws InterruptedException {
    return pace.written(name, size);
  }

  @Override
  public void finish(String name) {
    pace.finish(name);
  }

  @Override
  public void stop(String why) {
    stopped = true;
    pace.stop(why);
  }

  @Override
  public boolean isStopped() {
    return stopped;
  }

  @Override
  public String toString() {
    return getClass().getSimpleName();
  }
}
