package dev.sluice.hbase.plugin;

import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.plugin.PluginSocket;
import dev.sluice.local.plugin.Store;
import dev.sluice.local.protocol.Scopes;
import dev.sluice.local.protocol.SnapshotReporter;
import dev.sluice.local.protocol.TaskKind;
import java.util.List;
import java.util.function.Predicate;
import org.apache.hadoop.hbase.util.VersionInfo;

/** Makes the sockets of HBase's servers. */
public final class HBaseSocket {
  private static final String SCOPES =
      "Scopes are TABLE, TABLE/FAMILY and \"\"; a region server knows those that it has regions"
          + " of.";

  private HBaseSocket() {}

  /** Makes one that does not serve yet. */
  public static PluginSocket of(
      LeaseStore leases,
      List<TaskKind> kinds,
      List<SnapshotReporter> reporters,
      Predicate<Scope> exists) {
    Store store = Store.of("hbase", VersionInfo.getVersion(), HBaseSocket.class);
    return new PluginSocket(store, leases, kinds, reporters, new Scopes(exists, SCOPES));
  }
}
