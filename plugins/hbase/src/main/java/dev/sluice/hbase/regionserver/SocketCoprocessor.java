package dev.sluice.hbase.regionserver;

import org.apache.hadoop.hbase.CoprocessorEnvironment;
import org.apache.hadoop.hbase.coprocessor.RegionServerCoprocessor;
import org.apache.hadoop.hbase.coprocessor.RegionServerCoprocessorEnvironment;
import org.apache.hadoop.hbase.master.MasterServices;
import org.apache.hadoop.hbase.regionserver.OnlineRegions;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves the socket while the region server lives. It is a coprocessor since the store starts those
 * before it serves requests and stops them before it closes its regions; controllers are never told
 * of the end, and made anew whenever the configuration is read again.
 */
public final class SocketCoprocessor implements RegionServerCoprocessor {
  private static final Logger LOG = LoggerFactory.getLogger(SocketCoprocessor.class);

  private RegionServerPlugin plugin;

  @Override
  public void start(@SuppressWarnings("rawtypes") CoprocessorEnvironment environment) {
    // What a coprocessor throws would abort the server.
    try {
      RegionServerServices services = services(environment);
      // A master of this version is a region server too, but has no regions of its own.
      if (!(services instanceof MasterServices)) {
        plugin = RegionServerPlugin.of(services);
        plugin.serve();
      }
    } catch (RuntimeException | LinkageError e) {
      LOG.error("no orders are taken", e);
    }
  }

  private static RegionServerServices services(Object environment) {
    OnlineRegions regions = ((RegionServerCoprocessorEnvironment) environment).getOnlineRegions();
    if (regions instanceof RegionServerServices services) {
      return services;
    }
    throw new IllegalStateException("this version of HBase does not give " + regions.getClass());
  }

  @Override
  public void stop(@SuppressWarnings("rawtypes") CoprocessorEnvironment environment) {
    if (plugin != null) {
      plugin.close();
    }
  }
}
