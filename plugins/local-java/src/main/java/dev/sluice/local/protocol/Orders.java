package dev.sluice.local.protocol;

import dev.sluice.local.lease.Lease;
import dev.sluice.local.lease.LeaseConflictException;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The methods of the protocol, for the kinds of tasks of one store. */
public final class Orders {
  private final Description description;
  private final LeaseStore leases;
  private final List<TaskKind> kinds;
  private final List<SnapshotReporter> reporters;
  private final Scopes scopes;

  // Scopes that orders have named since the start: no more than there have been here.
  private final Set<Scope> ordered = ConcurrentHashMap.newKeySet();

  /** Makes them for a store; a scope that does not exist is refused. */
  public Orders(
      Description description,
      LeaseStore leases,
      List<TaskKind> kinds,
      List<SnapshotReporter> reporters,
      Scopes scopes) {
    this.description = description;
    this.leases = leases;
    this.kinds = List.copyOf(kinds);
    this.reporters = List.copyOf(reporters);
    this.scopes = scopes;
  }

  Map<String, Object> call(String method, Params params) throws Refusal {
    return switch (method) {
      case "describe" -> describe(params);
      case "snapshot" -> snapshot(params);
      case "set" -> set(params);
      case "clear" -> clear(params);
      case "start" -> start(params);
      case "abort" -> abort(params);
      default ->
          throw new Refusal(
              Refusal.Code.METHOD,
              "there is no method \"" + method + "\"",
              "Methods: describe, snapshot, set, clear, start, abort.");
    };
  }

  private Map<String, Object> describe(Params params) throws Refusal {
    ClientVersion.check(params);
    return description.toJson(kinds);
  }

  private Map<String, Object> snapshot(Params params) throws Refusal {
    params.refuseOthers();
    Snapshot.Builder snapshot = new Snapshot.Builder();
    kinds.forEach(kind -> kind.report(snapshot));
    reporters.forEach(reporter -> reporter.report(snapshot));
    return snapshot.build(
        leases.all().stream().map(lease -> toJson(lease, leases.secondsLeft(lease))).toList());
  }

  private Map<String, Object> set(Params params) throws Refusal {
    Order order = Order.read(params, false, description.maxTimeToLiveSeconds());
    TaskKind kind = kindOf(order);
    Scope scope = existing(order.scope());
    // As it was given: its time is counted from here.
    return Map.of("lease", toJson(give(kind, scope, order).lease(), order.timeToLiveSeconds()));
  }

  private LeaseStore.Given give(TaskKind kind, Scope scope, Order order) throws Refusal {
    kind.checkOrder(scope, order.setting());
    ordered.add(scope);
    try {
      return leases.give(
          kind.kind(),
          scope,
          order.setting(),
          order.owner(),
          order.timeToLiveSeconds(),
          order.replace());
    } catch (LeaseConflictException conflict) {
      throw new Refusal(
          Refusal.Code.CONFLICT,
          conflict.getMessage(),
          "Wait until it ends, or take it over with replace.");
    }
  }

  private Map<String, Object> start(Params params) throws Refusal {
    Order order = Order.read(params, true, description.maxTimeToLiveSeconds());
    TaskKind kind = kindOf(order);
    if (!kind.canStart()) {
      throw unsupported("tasks of kind \"" + order.kind() + "\" cannot be started");
    }
    if (!order.variant().isEmpty() && !kind.variants().contains(order.variant())) {
      throw unsupported(order.kind() + " has no variant \"" + order.variant() + "\"");
    }
    Scope scope = existing(order.scope());
    if (order.setting() == null) {
      kind.start(scope, order.variant());
      return Map.of();
    }
    LeaseStore.Given given = give(kind, scope, order);
    try {
      kind.start(scope, order.variant());
    } catch (Refusal | RuntimeException | LinkageError e) {
      // Both or neither: the lease came first, so that what starts obeys it from its first byte.
      leases.revert(given.lease(), given.before());
      throw e;
    }
    return Map.of();
  }

  private Map<String, Object> abort(Params params) throws Refusal {
    String kindText = params.name("kind", Order.KIND_FORM);
    String task = params.text("task", 1, Order.MAX_TASK_BYTES);
    String owner = params.text("owner", 1, Order.MAX_OWNER_BYTES);
    params.refuseOthers();
    TaskKind kind = find(kindText);
    if (!kind.canAbort()) {
      throw unsupported("tasks of kind \"" + kindText + "\" cannot be aborted");
    }
    kind.abort(task, owner);
    return Map.of();
  }

  private Map<String, Object> clear(Params params) throws Refusal {
    String owner = params.text("owner", 1, Order.MAX_OWNER_BYTES);
    if (!params.has("kind")) {
      // A scope needs a kind, so that it is one of those that are refused.
      params.refuseOthers();
      return Map.of("cleared", leases.clear(owner));
    }
    String kind = params.name("kind", Order.KIND_FORM);
    String text = params.optionalText("scope", 0, Order.MAX_SCOPE_BYTES).orElse("");
    params.refuseOthers();
    find(kind);
    return Map.of("cleared", leases.clear(owner, kind, known(text)));
  }

  private TaskKind find(String text) throws Refusal {
    for (TaskKind kind : kinds) {
      if (kind.kind().equals(text)) {
        return kind;
      }
    }
    throw unsupported("there are no tasks of kind \"" + text + "\" here");
  }

  private TaskKind kindOf(Order order) throws Refusal {
    TaskKind kind = find(order.kind());
    Setting setting = order.setting();
    boolean unknown = order.settingName() != null && setting == null;
    if (unknown || setting != null && !kind.settings().contains(setting.name())) {
      throw unsupported(kind.kind() + " has no setting \"" + order.settingName() + "\"");
    }
    return kind;
  }

  private static Refusal unsupported(String message) {
    return new Refusal(
        Refusal.Code.UNSUPPORTED, message, "The capabilities of describe list what there is.");
  }

  /** Also one that was here when it was ordered: whoever gave a lease can clear it. */
  private Scope known(String text) throws Refusal {
    Optional<Scope> scope = Scope.parse(text).filter(ordered::contains);
    return scope.isPresent() ? scope.get() : existing(text);
  }

  /** Also where a lease is: it can be renewed while its region moves or splits. */
  private Scope existing(String text) throws Refusal {
    Optional<Scope> scope = Scope.parse(text);
    if (scope.isPresent()) {
      Scope found = scope.get();
      boolean leased = leases.all().stream().anyMatch(lease -> lease.scope().equals(found));
      if (leased || scopes.exists().test(found)) {
        return found;
      }
    }
    throw Refusal.notFound("there is no \"" + text + "\" on this server", scopes.hint());
  }

  private static Map<String, Object> toJson(Lease lease, double secondsLeft) {
    Setting setting = lease.setting();
    Map<String, Object> inner = new LinkedHashMap<>();
    inner.put("name", setting.name().text());
    if (setting.number() != null) {
      inner.put("number", setting.number());
    }
    if (setting.text() != null) {
      inner.put("text", setting.text());
    }
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("kind", lease.kind());
    members.put("scope", lease.scope().text());
    members.put("setting", inner);
    members.put("owner", lease.owner());
    members.put("time_left_seconds", secondsLeft);
    return members;
  }
}
