package dev.sluice.hbase.regionserver;

import org.apache.hadoop.hbase.regionserver.throttle.ThroughputController;

/** Has a controller of the store's own do everything. */
record UpstreamOperationPace(ThroughputController controller) implements OperationPace {
  @Override
  public void start(String name) {
    controller.start(name);
  }

  @Override
  public long written(String name, long bytes) throws InterruptedException {
    return controller.control(name, bytes);
  }

  @Override
  public void finish(String name) {
    controller.finish(name);
  }

  @Override
  public void stop(String why) {
    controller.stop(why);
  }
}
