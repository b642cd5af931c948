package dev.sluice.hbase.compaction;

import dev.sluice.hbase.regionserver.RegionServerPlugin;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.conf.Configured;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionContext;
import org.apache.hadoop.hbase.regionserver.throttle.CompactionThroughputControllerFactory;
import org.apache.hadoop.hbase.regionserver.throttle.ThroughputController;

/**
 * What the store asks about its compactions. It has no state of its own: the store may make another
 * one whenever it reads its configuration again, while compactions go on with the first.
 */
public final class LeasedCompactionController extends Configured implements ThroughputController {
  private volatile CompactionPart part;
  private volatile boolean stopped;

  @Override
  public void setup(RegionServerServices server) {
    part = RegionServerPlugin.of(server).part(CompactionPart.class);
    part.configure(getConf());
  }

  @Override
  public void start(String name) {
    part.start(name);
  }

  @Override
  public long control(String name, long size) throws InterruptedException {
    return part.written(name, size);
  }

  @Override
  public void finish(String name) {
    part.finish(name);
  }

  /** A hook of the patched store, and never called by another. */
  public boolean reconfigure(Configuration conf) {
    String named = conf.get(CompactionThroughputControllerFactory.HBASE_THROUGHPUT_CONTROLLER_KEY);
    if (!getClass().getName().equals(named)) {
      return false;
    }
    setConf(conf);
    part.configure(conf);
    return true;
  }

  /** A hook of the patched store, and never called by another. */
  public boolean defer(
      HStore store, CompactionContext selected, int priority, long queuedAt, Runnable resubmit) {
    return !stopped && part.defer(store, selected, priority, queuedAt, resubmit);
  }

  @Override
  public void stop(String why) {
    stopped = true;
    part.releaseDeferred();
  }

  @Override
  public boolean isStopped() {
    return stopped;
  }

  @Override
  public String toString() {
    return "LeasedCompactionController";
  }
}
