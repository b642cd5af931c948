package dev.sluice.cassandra.requests;

import dev.sluice.cassandra.OverriddenValue;
import dev.sluice.cassandra.Tables;
import dev.sluice.local.lease.Aspect;
import dev.sluice.local.lease.Lease;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import dev.sluice.local.protocol.Refusal;
import dev.sluice.local.protocol.Snapshot;
import dev.sluice.local.protocol.TaskKind;
import dev.sluice.local.requests.TableLimits;
import java.util.List;
import org.apache.cassandra.service.ClientState;

/**
 * What clients may ask a node for in a second: in all, by Cassandra's own limiter, and of each
 * table, where the node has the handler for it.
 */
public final class RequestsPart implements TaskKind {
  private final LeaseStore leases;
  private final TableLimits tables;
  private final boolean hasHandler;
  private final OverriddenValue<NodeLimit> node =
      new OverriddenValue<>(NodeLimit::current, NodeLimit::apply, NodeLimit::changed);

  /** Makes it for a node that has started. */
  public RequestsPart(LeaseStore leases) {
    this.leases = leases;
    this.tables = new TableLimits(leases, System::nanoTime);
    this.hasHandler = follow(tables);
  }

  private static boolean follow(TableLimits tables) {
    if (ClientState.getCQLQueryHandler() instanceof LimitingQueryHandler handler) {
      handler.follow(tables);
      return true;
    }
    return false;
  }

  /** Brings the limiter to what is ordered now. */
  public void tick() {
    node.follow(
        leases
            .find(TableLimits.KIND, Aspect.PACE, Scope.SERVER)
            .map(Lease::setting)
            .map(NodeLimit::of));
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
    if (scope.equals(Scope.SERVER)) {
      return;
    }
    if (Tables.find(scope).isEmpty()) {
      throw Refusal.invalid(
          "\"" + scope.text() + "\" is no table",
          "Scopes are \"\", all requests of clients, and KEYSPACE.TABLE.");
    }
    if (!hasHandler) {
      throw Refusal.refused(
          "this node bounds all requests, and not those for a table",
          "Start it with -Dcassandra.custom_query_handler_class="
              + LimitingQueryHandler.class.getName());
    }
  }

  @Override
  public void report(Snapshot.Builder snapshot) {
    snapshot.figure("requests_own_rate_operations_per_second", node.own().effective());
    tables.report(snapshot);
  }
}
