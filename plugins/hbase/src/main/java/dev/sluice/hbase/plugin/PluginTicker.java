package dev.sluice.hbase.regionserver;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Looks ten times a second at what time changes, until the server stops. */
final class PluginTicker implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(PluginTicker.class);
  private static final long PERIOD_MILLIS = 100;

  private final RegionServerPlugin plugin;
  private final PluginParts parts;

  PluginTicker(RegionServerPlugin plugin, PluginParts parts) {
    this.plugin = plugin;
    this.parts = parts;
  }

  @Override
  public void run() {
    try {
      while (!plugin.isStopping()) {
        tick();
        Thread.sleep(PERIOD_MILLIS);
      }
    } catch (InterruptedException e) {
      LOG.warn("interrupted: every lease ends");
    } finally {
      plugin.close();
    }
  }

  private void tick() {
    try {
      plugin.leases().sweep();
      parts.tick();
    } catch (RuntimeException e) {
      LOG.error("a listener to leases has failed", e);
    }
  }
}
