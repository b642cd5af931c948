package dev.sluice.cassandra.compaction;

import dev.sluice.cassandra.OrderedRate;
import dev.sluice.cassandra.OverriddenValue;
import dev.sluice.cassandra.cache.CachePart;
import dev.sluice.local.lease.Aspect;
import dev.sluice.local.lease.Lease;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import dev.sluice.local.plugin.ConfiguredNumber;
import dev.sluice.local.protocol.Refusal;
import dev.sluice.local.protocol.Snapshot;
import dev.sluice.local.protocol.TaskKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.UnaryOperator;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.compaction.CompactionInfo;
import org.apache.cassandra.db.compaction.CompactionManager;
import org.apache.cassandra.service.StorageService;
import org.apache.cassandra.service.StorageServiceMBean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The compactions of a node: what the protocol orders, and what it shows of them. */
public final class CompactionPart implements TaskKind {
  static final String KIND = "compaction";

  private static final Logger LOG = LoggerFactory.getLogger(CompactionPart.class);
  private static final int MOST_FILES = 1_000_000;
  private static final int MOST_CONCURRENT = 1024;

  private final LeaseStore leases;
  private final RunningCompactions running = new RunningCompactions();
  private final FreshFiles files = new FreshFiles();
  private final CompactionRate rate = new CompactionRate();
  private final OverriddenValue<Integer> concurrency;
  private final Optional<Gate> gate;
  private final FileGuard guard;
  private final Deferrals deferrals;
  private final Starter starter;
  private long lookedNanos = System.nanoTime();

  /** Makes it for a node that has started. */
  public CompactionPart(LeaseStore leases, UnaryOperator<String> configuration) {
    this.leases = leases;
    StorageServiceMBean node = StorageService.instance;
    concurrency =
        new OverriddenValue<>(node::getConcurrentCompactors, node::setConcurrentCompactors);
    gate = LimiterMonitor.of(CompactionManager.instance.getRateLimiter()).map(Gate::new);
    guard = new FileGuard(leases, limit(configuration));
    deferrals = new Deferrals(leases, files, running);
    starter = new Starter(deferrals);
  }

  private static int limit(UnaryOperator<String> configuration) {
    String text = configuration.apply(FileGuard.LIMIT_KEY);
    if (text == null) {
      return FileGuard.DEFAULT_LIMIT;
    }
    OptionalDouble number = ConfiguredNumber.parse(text, 1, MOST_FILES);
    if (number.isEmpty()) {
      LOG.error(
          "{} is \"{}\": {} is taken; set it to a number of files from 1 to {}",
          FileGuard.LIMIT_KEY,
          text,
          FileGuard.DEFAULT_LIMIT,
          MOST_FILES);
      return FileGuard.DEFAULT_LIMIT;
    }
    return (int) number.getAsDouble();
  }

  /** Brings the node to what is ordered now. */
  public synchronized void tick() {
    files.look();
    guard.look(files.all());
    follow();
    long nanos = System.nanoTime();
    running.look(isHeld(), nanos - lookedNanos);
    lookedNanos = nanos;
  }

  private void follow() {
    boolean held = isHeld();
    // Who sets the limiter's rate takes the gate's monitor.
    if (!held) {
      gate.ifPresent(each -> each.setClosed(false));
    }
    rate.follow(ordered(Aspect.PACE));
    concurrency.follow(ordered(Aspect.CONCURRENCY).map(order -> order.number().intValue()));
    deferrals.look();
    if (held) {
      gate.ifPresent(this::hold);
    }
  }

  private void hold(Gate each) {
    each.setClosed(true);
    if (mustPass()) {
      each.letPass();
    }
  }

  /** Who was told to end sees it after the limiter alone; so do truncation, repair, and a drop. */
  private boolean mustPass() {
    return running.isAnyStopped() || running.isAnyHidden() || isAnyPaused();
  }

  private static boolean isAnyPaused() {
    for (ColumnFamilyStore table : ColumnFamilyStore.all()) {
      if (!table.getCompactionStrategyManager().isActive()) {
        return true;
      }
    }
    return false;
  }

  private boolean isHeld() {
    return ordered(Aspect.PACE).filter(order -> order.name() == SettingName.HOLD).isPresent();
  }

  private Optional<Setting> ordered(Aspect aspect) {
    return leases.find(KIND, aspect, Scope.SERVER).map(Lease::setting);
  }

  /** Brings the node back to its own values; every order has ended. */
  public synchronized void close() {
    gate.ifPresent(Gate::close);
    deferrals.look();
    rate.follow(Optional.empty());
    concurrency.follow(Optional.empty());
  }

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public List<SettingName> settings() {
    List<SettingName> settings =
        new ArrayList<>(
            List.of(
                SettingName.RATE_BYTES_PER_SECOND,
                SettingName.FULL,
                SettingName.STOCK,
                SettingName.DEFER_UNTIL_DEBT_BYTES,
                SettingName.CONCURRENCY));
    if (gate.isPresent()) {
      settings.add(SettingName.HOLD);
    }
    return settings;
  }

  @Override
  public void checkOrder(Scope scope, Setting setting) throws Refusal {
    guard.refuseIfTripped();
    checkScope(scope, setting);
    OrderedRate.check(setting);
    if (setting.name() == SettingName.CONCURRENCY && setting.number() > MOST_CONCURRENT) {
      throw Refusal.refused(
          "each compaction at once is a thread", "Order " + MOST_CONCURRENT + " or less.");
    }
  }

  /** The node has such a scope, but it may be that of a cache. */
  static void checkScope(Scope scope, Setting setting) throws Refusal {
    if (!scope.equals(Scope.SERVER) && setting.aspect() != Aspect.DEFERRAL) {
      throw Refusal.invalid(
          setting.name().text() + " is of all compactions of the node, not of one table",
          "Give it with the scope \"\"; defer_until_debt_bytes can be given for a table.");
    }
    if (CachePart.hasScope(scope)) {
      throw Refusal.invalid(
          "\"" + scope.text() + "\" is a cache, and has no compactions",
          "Scopes are \"\", the node, and KEYSPACE.TABLE.");
    }
  }

  @Override
  public boolean canStart() {
    return true;
  }

  @Override
  public List<String> variants() {
    return List.of(Starter.MINOR, Starter.MAJOR);
  }

  @Override
  public void start(Scope scope, String variant) throws Refusal {
    starter.start(scope, variant);
  }

  @Override
  public boolean canAbort() {
    return true;
  }

  @Override
  public void abort(String task, String owner) throws Refusal {
    Optional<CompactionInfo.Holder> found =
        RunningCompactions.find(task).filter(holder -> !holder.isStopRequested());
    if (found.isEmpty()) {
      throw Refusal.notFound("there is no task \"" + task + "\"", "The snapshot lists them.");
    }
    found.get().stop();
    LOG.info("compaction {} is aborted by order of {}", task, owner);
  }

  @Override
  public void report(Snapshot.Builder snapshot) {
    running.report(snapshot, isHeld());
    files.report(snapshot);
    snapshot.figure("compaction_order_ends_total", guard.ends());
    snapshot.figure("compaction_own_rate_bytes_per_second", rate.own());
    snapshot.figure("compaction_own_concurrency_tasks", concurrency.own());
    snapshot.figure("compaction_deferred_tables", deferrals.scopes().size());
    snapshot.figure(
        "compaction_pending_tasks",
        CompactionManager.instance.getMetrics().pendingTasks.getValue());
    snapshot.figure(
        "compaction_compacted_bytes_total",
        CompactionManager.instance.getMetrics().compressedBytesCompacted.getCount());
  }
}
