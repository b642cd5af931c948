package dev.sluice.hbase.regionserver;

import dev.sluice.hbase.pace.StockPace;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.regionserver.throttle.NoLimitThroughputController;
import org.apache.hadoop.hbase.regionserver.throttle.PressureAwareThroughputController;
import org.apache.hadoop.hbase.regionserver.throttle.ThroughputController;
import org.apache.hadoop.util.ReflectionUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks a controller of the store's own how fast it would let operations go. */
public final class UpstreamPace {
  private static final Logger LOG = LoggerFactory.getLogger(UpstreamPace.class);

  private final ThroughputController controller;
  private final long checkBytes;

  private UpstreamPace(ThroughputController controller, long checkBytes) {
    this.controller = controller;
    this.checkBytes = checkBytes;
  }

  /** Makes a controller of the class that a key of the configuration names, not set up yet. */
  public static ThroughputController controller(
      String key, Class<? extends ThroughputController> standard, Configuration conf) {
    return ReflectionUtils.newInstance(named(key, standard, conf), conf);
  }

  /** Makes such a controller and starts it. */
  public static UpstreamPace start(
      String key,
      Class<? extends ThroughputController> standard,
      Configuration conf,
      long checkBytes,
      RegionServerServices services) {
    ThroughputController controller = controller(key, standard, conf);
    complaint(key, controller).ifPresent(LOG::warn);
    controller.setup(services);
    return new UpstreamPace(controller, checkBytes);
  }

  /** What is wrong with a controller, if its pace cannot be asked for. */
  static Optional<String> complaint(String key, ThroughputController controller) {
    boolean hasPace =
        controller instanceof PressureAwareThroughputController
            || controller instanceof NoLimitThroughputController;
    return hasPace
        ? Optional.empty()
        : Optional.of(
            "%s names %s, which is no %s: nothing is slowed where no order does it; name one that is"
                .formatted(
                    key,
                    controller.getClass().getName(),
                    PressureAwareThroughputController.class.getSimpleName()));
  }

  private static Class<? extends ThroughputController> named(
      String key, Class<? extends ThroughputController> standard, Configuration conf) {
    try {
      return conf.getClass(key, standard, ThroughputController.class);
    } catch (RuntimeException e) {
      LOG.error("{} names no controller: {} is used instead", key, standard.getName(), e);
      return standard;
    }
  }

  /** The pace now: it changes with the pressure on the store, and in off-peak hours. */
  public StockPace now() {
    return controller instanceof PressureAwareThroughputController aware
        ? new StockPace(aware.getMaxThroughput(), checkBytes)
        : StockPace.UNLIMITED;
  }

  public void stop() {
    controller.stop("another configuration holds");
  }
}
