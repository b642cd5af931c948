package dev.sluice.hbase.compaction;

import dev.sluice.hbase.pace.Operation;
import dev.sluice.hbase.pace.StockPace;
import dev.sluice.hbase.pace.Throttle;
import dev.sluice.hbase.regionserver.OperationName;
import dev.sluice.hbase.regionserver.OperationPace;
import dev.sluice.hbase.regionserver.PluginPart;
import dev.sluice.hbase.regionserver.RegionServerPlugin;
import dev.sluice.hbase.regionserver.UpstreamPace;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import dev.sluice.local.plugin.Guarded;
import dev.sluice.local.protocol.Refusal;
import dev.sluice.local.protocol.Snapshot;
import dev.sluice.local.protocol.TaskKind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionContext;
import org.apache.hadoop.hbase.regionserver.throttle.PressureAwareCompactionThroughputController;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The compactions of a region server: what the controllers ask and the protocol orders. */
public final class CompactionPart implements PluginPart, TaskKind, OperationPace {
  /** The store's controller whose pace holds where no order does. */
  public static final String STOCK_CONTROLLER_KEY = "sluice.compaction.stock.controller";

  static final String KIND = "compaction";

  private static final Logger LOG = LoggerFactory.getLogger(CompactionPart.class);

  private static final String CHECK_INTERVAL_KEY =
      "hbase.hstore.compaction.throughput.control.check.interval";
  private static final long DEFAULT_LOWER_BOUND = 50L << 20;

  private final Map<String, RunningCompaction> running = new ConcurrentHashMap<>();
  private volatile UpstreamPace upstream;
  private RegionServerPlugin plugin;
  private RegionServerServices services;
  private BlockingGuard guard;
  private CompactionQueue queue;
  private WaitingCompactions waiting;
  private CompactionStarter starter;
  private Throttle throttle;

  @Override
  public void attach(RegionServerPlugin owner) {
    plugin = owner;
    services = owner.services();
    guard = new BlockingGuard(owner.leases(), this::fillings);
    RequestClock requests = new RequestClock(EnvironmentEdgeManager::currentTime, System::nanoTime);
    queue =
        new CompactionQueue(
            owner.leases(),
            System::nanoTime,
            requests,
            scope -> CompactionDebts.bytes(StoreView.all(services), scope),
            this::mustRun);
    waiting = new WaitingCompactions(services, queue, requests);
    starter = new CompactionStarter(services, queue, waiting);
    throttle =
        new Throttle(
            KIND, owner.leases(), System::nanoTime, this::stockPace, running::size, this::letsGo);
    owner.register(this);
  }

  private List<BlockingGuard.Filling> fillings() {
    return StoreView.all(services).stream()
        .filter(StoreView::makesWritesWait)
        .map(store -> new BlockingGuard.Filling(store, store.limits()))
        .toList();
  }

  private boolean mustRun() {
    return guard.isTripped() || plugin.isStopping() || CompactionStarter.areSwitchedOff(services);
  }

  private StockPace stockPace() {
    UpstreamPace now = upstream;
    return now == null ? StockPace.UNLIMITED : now.now();
  }

  /** A compaction ends with its region, as it does by itself, but without the wait before. */
  private boolean letsGo(Operation operation) throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException("the store has switched compactions off");
    }
    RunningCompaction compaction = running(operation.name());
    if (compaction != null && !compaction.isWanted()) {
      throw new InterruptedException("its region closes");
    }
    boolean free = compaction == null || compaction.isFree();
    return free || plugin.isStopping();
  }

  /** One that began while its region was being opened learns of it when it is open. */
  private RunningCompaction running(String name) {
    RunningCompaction compaction = running.get(name);
    if (compaction == null || compaction.region() != null) {
      return compaction;
    }
    HRegion open = openRegion(OperationName.parse(name));
    return open == null
        ? compaction
        : running.computeIfPresent(name, (same, each) -> each.in(open));
  }

  private HRegion openRegion(Optional<OperationName> name) {
    return name.map(each -> (HRegion) services.getRegion(each.encodedRegion())).orElse(null);
  }

  /** Follows another configuration, with the operations that are running. */
  synchronized void configure(Configuration conf) {
    long checkBytes =
        conf.getLong(
            CHECK_INTERVAL_KEY,
            conf.getLong(
                PressureAwareCompactionThroughputController
                    .HBASE_HSTORE_COMPACTION_MAX_THROUGHPUT_LOWER_BOUND,
                DEFAULT_LOWER_BOUND));
    UpstreamPace before = upstream;
    upstream =
        UpstreamPace.start(
            STOCK_CONTROLLER_KEY,
            PressureAwareCompactionThroughputController.class,
            conf,
            checkBytes,
            services);
    if (before != null) {
      before.stop();
    }
  }

  @Override
  public void start(String name) {
    Optional<OperationName> parsed = OperationName.parse(name);
    Optional<ReadMeter> meter = ReadMeter.current();
    HRegion region = meter.map(ReadMeter::region).orElseGet(() -> openRegion(parsed));
    Scope scope =
        region == null || parsed.isEmpty()
            ? Scope.SERVER
            : new Scope(
                region.getTableDescriptor().getTableName().getNameAsString(),
                parsed.get().family());
    Operation operation = new Operation(name, scope, System.nanoTime());
    String key = parsed.map(each -> each.encodedRegion() + "#" + each.family()).orElse(name);
    synchronized (running) {
      String id = meter.map(ReadMeter::id).orElseGet(() -> waiting.begin(key));
      running.put(name, new RunningCompaction(id, operation, region, meter));
      operation.abort(waiting.abortReason(key));
    }
    if (meter.isPresent()) {
      meter.get().chargeTo(operation, throttle);
    } else {
      queue.started(name, key, scope);
    }
  }

  /** Told by the compactor that counts, before it opens files: that can take long. */
  void begins(ReadMeter compaction, HStore store) {
    String key = StoreView.keyOf(store);
    compaction.name(waiting.begin(key));
    queue.started(compaction, key, StoreView.scopeOf(store));
  }

  void ended(ReadMeter compaction) {
    queue.finished(compaction);
  }

  @Override
  public long written(String name, long bytes) throws InterruptedException {
    RunningCompaction compaction = running.get(name);
    if (compaction == null) {
      return 0;
    }
    compaction.operation().written(bytes);
    return throttle.pause(compaction.operation()) / 1_000_000;
  }

  @Override
  public void finish(String name) {
    RunningCompaction compaction = running.remove(name);
    queue.finished(name);
    if (compaction != null) {
      throttle.finish(compaction.operation());
      compaction.meter().ifPresent(ReadMeter::chargeToNext);
    }
  }

  boolean defer(
      HStore store, CompactionContext selected, int priority, long queuedAt, Runnable resubmit) {
    boolean aborted = waiting.turnCame(StoreView.keyOf(store), queuedAt);
    if (aborted || store.getRegionInfo().getTable().isSystemTable()) {
      return false;
    }
    boolean hasFiles = selected != null && selected.hasSelection();
    return queue.keeps(
        new Candidate(
            StoreView.keyOf(store),
            StoreView.scopeOf(store),
            store::areWritesEnabled,
            hasFiles ? selected.getRequest().getSize() : 0,
            hasFiles && selected.getRequest().isMajor(),
            priority,
            System.nanoTime(),
            queuedAt,
            resubmit));
  }

  @Override
  public void stop(String why) {
    queue.releaseAll();
  }

  /** Looks at the number of files at once, since a flush is about to add one; it never fails. */
  public void lookAtFiles() {
    Guarded.call("the look at how many files stores have", guard::look);
  }

  @Override
  public void tick() {
    guard.look();
    waiting.forgetClosed();
    queue.release();
  }

  @Override
  public void detach() {
    queue.releaseAll();
    throttle.wake();
    UpstreamPace last = upstream;
    if (last != null) {
      last.stop();
    }
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
                SettingName.HOLD,
                SettingName.FULL,
                SettingName.STOCK));
    if (StoreHooks.canDefer()) {
      settings.add(SettingName.DEFER_UNTIL_DEBT_BYTES);
      settings.add(SettingName.CONCURRENCY);
      settings.add(SettingName.PRIORITY);
    }
    return settings;
  }

  @Override
  public boolean canStart() {
    return true;
  }

  @Override
  public void checkOrder(Scope scope, Setting setting) throws Refusal {
    guard.refuseIfTripped();
  }

  @Override
  public List<String> variants() {
    return List.of(CompactionStarter.MINOR, CompactionStarter.MAJOR);
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
    String reason = "aborted by order of " + owner;
    // None of those that wait may begin in between.
    synchronized (running) {
      Optional<RunningCompaction> found =
          running.values().stream().filter(each -> each.id().equals(task)).findFirst();
      if (found.isEmpty()) {
        waiting.abort(task, reason);
      } else {
        found.get().operation().abort(reason);
      }
    }
    LOG.info("compaction {} is {}", task, reason);
    throttle.wake();
    waiting.giveBackAborted();
  }

  @Override
  public void report(Snapshot.Builder snapshot) {
    List<StoreView> stores = StoreView.all(services);
    CompactionReport.running(running.values(), snapshot);
    waiting.report(stores, snapshot);
    CompactionDebts.report(stores, snapshot);
    snapshot.figure("compaction_order_ends_total", guard.ends());
    CompactionReport.reportQueues(services, snapshot);
  }
}
