package dev.sluice.local.plugin;

import dev.sluice.local.lease.LeaseStore;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Looks ten times a second at what time changes, until the server stops. */
public final class PluginTicker implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(PluginTicker.class);
  private static final long PERIOD_MILLIS = 100;

  private final LeaseStore leases;
  private final Runnable tick;
  private final BooleanSupplier isStopping;
  private final Runnable close;

  private PluginTicker(
      LeaseStore leases, Runnable tick, BooleanSupplier isStopping, Runnable close) {
    this.leases = leases;
    this.tick = tick;
    this.isStopping = isStopping;
    this.close = close;
  }

  /**
   * Starts the thread.
   *
   * @param tick called each time, after the leases whose time is over were forgotten
   * @param close called once, when the server stops
   */
  public static void start(
      LeaseStore leases, Runnable tick, BooleanSupplier isStopping, Runnable close) {
    Thread thread = new Thread(new PluginTicker(leases, tick, isStopping, close), "sluice-ticker");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void run() {
    try {
      while (!isStopping.getAsBoolean()) {
        look();
        Thread.sleep(PERIOD_MILLIS);
      }
    } catch (InterruptedException e) {
      LOG.warn("interrupted: every lease ends");
    } finally {
      close.run();
    }
  }

  private void look() {
    Guarded.call("a listener to leases", leases::sweep);
    Guarded.call("a look at what time changes", tick);
  }
}
