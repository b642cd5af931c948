package dev.sluice.hbase.requests;

import dev.sluice.hbase.regionserver.PluginPart;
import dev.sluice.hbase.regionserver.RegionServerPlugin;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import dev.sluice.local.protocol.Refusal;
import dev.sluice.local.protocol.Snapshot;
import dev.sluice.local.protocol.TaskKind;
import dev.sluice.local.requests.TableLimits;
import java.util.List;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.regionserver.Region;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Bounds how many rows a second clients ask a region server for, by table, with leases. */
public final class RequestsPart implements PluginPart, TaskKind {
  private static final Logger LOG = LoggerFactory.getLogger(RequestsPart.class);

  private TableLimits tables;

  /** Offers nothing where requests do not come through the scheduler of the plug-in. */
  @Override
  public void attach(RegionServerPlugin plugin) {
    RequestLimits limits = RequestLimits.find(plugin.services()).orElse(null);
    if (limits == null) {
      LOG.info(
          "no bounds of requests: set hbase.region.server.rpc.scheduler.factory.class to the"
              + " factory of the plug-in, TimingSchedulerFactory");
      return;
    }
    RegionServerServices services = plugin.services();
    RequestedTables requested = new RequestedTables(encoded -> tableOf(services, encoded));
    tables = limits.follow(plugin.leases(), requested, plugin::isStopping);
    plugin.register(this);
  }

  private static String tableOf(RegionServerServices services, String encodedRegion) {
    Region region = services.getRegion(encodedRegion);
    return region == null ? "" : region.getTableDescriptor().getTableName().getNameAsString();
  }

  @Override
  public String kind() {
    return TableLimits.KIND;
  }

  @Override
  public List<SettingName> settings() {
    return List.of(SettingName.RATE_OPERATIONS_PER_SECOND);
  }

  @Override
  public void checkOrder(Scope scope, Setting setting) throws Refusal {
    if (scope.table().isEmpty() || !scope.family().isEmpty()) {
      throw Refusal.refused(
          "requests are bounded by table, and the scope is \"" + scope.text() + "\"",
          "Name a table: a request may be for several families of it.");
    }
    if (isSystemTable(scope.table())) {
      throw Refusal.refused(
          scope.table() + " is a table of the store's own, which it cannot do without",
          "Name a table of users.");
    }
  }

  private static boolean isSystemTable(String table) {
    return TableName.valueOf(table)
        .getNamespaceAsString()
        .equals(NamespaceDescriptor.SYSTEM_NAMESPACE_NAME_STR);
  }

  @Override
  public void report(Snapshot.Builder snapshot) {
    tables.report(snapshot);
  }
}
