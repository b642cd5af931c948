package dev.sluice.hbase.log;

import dev.sluice.hbase.regionserver.RegionServerPlugin;
import dev.sluice.local.redirect.Tier;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Abortable;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.master.MasterServices;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.LogRoller;
import org.apache.hadoop.hbase.regionserver.wal.WALActionsListener;
import org.apache.hadoop.hbase.util.ServerRegionReplicaUtil;
import org.apache.hadoop.hbase.wal.AbstractFSWALProvider;
import org.apache.hadoop.hbase.wal.AsyncFSWALProvider;
import org.apache.hadoop.hbase.wal.FSHLogProvider;
import org.apache.hadoop.hbase.wal.WAL;
import org.apache.hadoop.hbase.wal.WALFactory;
import org.apache.hadoop.hbase.wal.WALProvider;
import org.apache.hadoop.hbase.wal.WALSplitter;

/**
 * A log on each of two tiers at once, which a region server has by {@code hbase.wal.provider}.
 * Their files are ordinary ones, of two groups as upstream's provider multiwal has them: splitting
 * and replication need nothing new. Edits of a region are in both, though, which of multiwal's they
 * are not: only a {@link TieredLogRegion} can replay them. Regions of hbase:meta and processes that
 * are no region server have upstream's one log, where its folder says.
 */
public final class TieredWALProvider implements WALProvider {
  private final List<WALProvider> providers = new ArrayList<>();
  private Optional<LogPlacement> placement = Optional.empty();
  private HRegionServer server;
  private TieredWAL log;

  @Override
  public void init(WALFactory factory, Configuration conf, String providerId, Abortable abortable)
      throws IOException {
    boolean isOfMeta = AbstractFSWALProvider.META_WAL_PROVIDER_ID.equals(providerId);
    if (isOfMeta || !(abortable instanceof HRegionServer owner) || isMaster(owner)) {
      add(upstreamsDefault(), factory, conf, providerId, abortable);
      return;
    }
    checkRegions(conf);
    refuse(
        conf,
        ServerRegionReplicaUtil.REGION_REPLICA_REPLICATION_CONF_KEY,
        "a replica that gets a flush before an edit of the other log would lose sight of it");
    refuse(
        conf,
        WALSplitter.WAL_SPLIT_TO_HFILE,
        "what was deleted could come back from the log that kept the row longer");
    server = owner;
    placement = Optional.of(RegionServerPlugin.of(owner).part(LogPlacement.class));
    for (Tier tier : Tier.values()) {
      Configuration own = new Configuration(conf);
      own.setClass(FSHLogProvider.WRITER_IMPL, TierLogWriter.class, FSHLogProvider.Writer.class);
      own.set(TierLogWriter.POLICY_KEY, LogFolder.policy(conf, Optional.of(tier)).orElseThrow());
      // Asynchronous output asks for the first block before a file can have a policy.
      WALProvider provider = new FSHLogProvider();
      provider.addWALActionsListener(placement.get().counter(tier));
      add(provider, factory, own, tier.text(), abortable);
    }
  }

  private static void checkRegions(Configuration conf) throws IOException {
    Class<?> regions = conf.getClass(HConstants.REGION_IMPL, HRegion.class);
    if (!TieredLogRegion.class.isAssignableFrom(regions)) {
      throw new IOException(
          "With two logs an interrupted replay would lose edits: set "
              + HConstants.REGION_IMPL
              + " to "
              + TieredLogRegion.class.getName()
              + " on all region servers, or use another "
              + WALFactory.WAL_PROVIDER
              + ".");
    }
  }

  private static void refuse(Configuration conf, String key, String why) throws IOException {
    if (conf.getBoolean(key, false)) {
      throw new IOException(
          "With two logs "
              + why
              + ": set "
              + key
              + " to false on all servers, or use another "
              + WALFactory.WAL_PROVIDER
              + ".");
    }
  }

  /** A master of this version is a region server too, but has no plug-in of one. */
  private static boolean isMaster(HRegionServer server) {
    return server instanceof MasterServices;
  }

  /** What a store without this provider has, unless it cannot be used with its HDFS. */
  private static WALProvider upstreamsDefault() {
    return AsyncFSWALProvider.load() ? new AsyncFSWALProvider() : new FSHLogProvider();
  }

  private void add(
      WALProvider provider,
      WALFactory factory,
      Configuration conf,
      String providerId,
      Abortable abortable)
      throws IOException {
    provider.init(factory, conf, providerId, abortable);
    providers.add(provider);
  }

  /** Without a region the fast one: who asks so, as hbase-backup does, wants a log with files. */
  @Override
  public synchronized WAL getWAL(RegionInfo region) throws IOException {
    if (placement.isEmpty()) {
      return providers.get(0).getWAL(region);
    }
    WAL fast = providers.get(Tier.FAST.ordinal()).getWAL(region);
    WAL slow = providers.get(Tier.SLOW.ordinal()).getWAL(region);
    haveRolled(fast);
    haveRolled(slow);
    if (log == null) {
      log = new TieredWAL(fast, slow, placement.get().chooser());
    }
    return region == null ? fast : log;
  }

  /** Each by itself: one that is full is no reason to roll the other. */
  private void haveRolled(WAL each) {
    LogRoller roller = server.getWalRoller();
    // None while the region server starts, which asks for a log again and again afterwards.
    if (roller != null) {
      roller.addWAL(each);
    }
  }

  /** The logs with files, of which there are two for each that regions have. */
  @Override
  public List<WAL> getWALs() {
    return providers.stream().flatMap(provider -> provider.getWALs().stream()).toList();
  }

  @Override
  public void shutdown() throws IOException {
    each(WALProvider::shutdown);
  }

  @Override
  public void close() throws IOException {
    each(WALProvider::close);
  }

  @FunctionalInterface
  private interface Call {
    void on(WALProvider provider) throws IOException;
  }

  /** Also the second where the first fails, whose exception is the one that is thrown. */
  private void each(Call call) throws IOException {
    IOException first = null;
    for (WALProvider provider : providers) {
      try {
        call.on(provider);
      } catch (IOException e) {
        if (first == null) {
          first = e;
        } else {
          first.addSuppressed(e);
        }
      }
    }
    if (first != null) {
      throw first;
    }
  }

  @Override
  public long getNumLogFiles() {
    return providers.stream().mapToLong(WALProvider::getNumLogFiles).sum();
  }

  @Override
  public long getLogFileSize() {
    return providers.stream().mapToLong(WALProvider::getLogFileSize).sum();
  }

  @Override
  public void addWALActionsListener(WALActionsListener listener) {
    providers.forEach(provider -> provider.addWALActionsListener(listener));
  }
}
