package dev.sluice.hbase.flush;

import dev.sluice.hbase.compaction.CompactionPart;
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
import dev.sluice.local.protocol.Refusal;
import dev.sluice.local.protocol.Snapshot;
import dev.sluice.local.protocol.TaskKind;
import dev.sluice.local.protocol.TaskState;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.regionserver.FlushLifeCycleTracker;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.RegionLocks;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.regionserver.throttle.NoLimitThroughputController;
import org.apache.hadoop.hbase.regionserver.throttle.PressureAwareFlushThroughputController;
import org.apache.hadoop.hbase.util.Bytes;

/** The flushes of a region server: what the controllers ask and the protocol orders. */
public final class FlushPart implements PluginPart, TaskKind, OperationPace {
  /** The store's controller whose pace holds where no order does. */
  public static final String STOCK_CONTROLLER_KEY = "sluice.flush.stock.controller";

  static final String KIND = "flush";

  private static final long DEFAULT_CHECK_BYTES = 10L << 20;

  /** A flush between its start and its end; its region is null if it is not open on this server. */
  private record RunningFlush(Operation operation, HRegion region) {
    /** A region that closes waits for its flushes, and keeps what they write. */
    private boolean mustEnd() {
      return region == null
          || region.isClosing()
          || !region.areWritesEnabled()
          || RegionLocks.keepsRequestsOut(region);
    }
  }

  private final Map<String, RunningFlush> running = new ConcurrentHashMap<>();
  private volatile UpstreamPace upstream;
  private RegionServerPlugin plugin;
  private RegionServerServices services;
  private CompactionPart compactions;
  private RegionMemory memory;
  private MemoryGuard guard;
  private Throttle throttle;

  @Override
  public void attach(RegionServerPlugin owner) {
    plugin = owner;
    services = owner.services();
    compactions = owner.part(CompactionPart.class);
    memory = new RegionMemory(services);
    guard =
        new MemoryGuard(
            owner.leases(),
            memory::limits,
            () -> services.getRegionServerAccounting().getFlushPressure());
    throttle =
        new Throttle(
            KIND, owner.leases(), System::nanoTime, this::stockPace, running::size, this::letsGo);
    owner.register(this);
  }

  private StockPace stockPace() {
    UpstreamPace now = upstream;
    return now == null ? StockPace.UNLIMITED : now.now();
  }

  private boolean letsGo(Operation operation) {
    RunningFlush flush = running.get(operation.name());
    return plugin.isStopping() || flush == null || flush.mustEnd();
  }

  synchronized void configure(Configuration conf) {
    long checkBytes =
        conf.getLong(
            PressureAwareFlushThroughputController
                .HBASE_HSTORE_FLUSH_THROUGHPUT_CONTROL_CHECK_INTERVAL,
            DEFAULT_CHECK_BYTES);
    UpstreamPace before = upstream;
    upstream =
        UpstreamPace.start(
            STOCK_CONTROLLER_KEY, NoLimitThroughputController.class, conf, checkBytes, services);
    if (before != null) {
      before.stop();
    }
  }

  @Override
  public void start(String name) {
    compactions.lookAtFiles();
    OperationName parsed = OperationName.parse(name).orElse(null);
    HRegion region = parsed == null ? null : (HRegion) services.getRegion(parsed.encodedRegion());
    Scope scope =
        region == null ? Scope.SERVER : new Scope(RegionMemory.tableOf(region), parsed.family());
    running.put(name, new RunningFlush(new Operation(name, scope, System.nanoTime()), region));
  }

  /** Lets the flush go on where its thread is interrupted: one that fails can end the server. */
  @Override
  public long written(String name, long bytes) {
    RunningFlush flush = running.get(name);
    if (flush == null) {
      return 0;
    }
    flush.operation().written(bytes);
    try {
      return throttle.pause(flush.operation()) / 1_000_000;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return 0;
    }
  }

  @Override
  public void finish(String name) {
    RunningFlush flush = running.remove(name);
    if (flush != null) {
      throttle.finish(flush.operation());
    }
  }

  @Override
  public void tick() {
    guard.look();
  }

  @Override
  public void detach() {
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
    return List.of(
        SettingName.RATE_BYTES_PER_SECOND, SettingName.HOLD, SettingName.FULL, SettingName.STOCK);
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
  public void start(Scope scope, String variant) throws Refusal {
    List<byte[]> families =
        scope.family().isEmpty() ? null : List.of(Bytes.toBytes(scope.family()));
    int requested = 0;
    for (HRegion region : memory.regions(scope)) {
      if (region.getMemStoreDataSize() > 0) {
        services.getFlushRequester().requestFlush(region, families, FlushLifeCycleTracker.DUMMY);
        requested++;
      }
    }
    if (requested == 0) {
      throw Refusal.refused("\"" + scope.text() + "\" has nothing in memory", "Write to it first.");
    }
  }

  @Override
  public void report(Snapshot.Builder snapshot) {
    long now = System.nanoTime();
    running.values().forEach(flush -> snapshot.task(task(flush.operation(), now)));
    memory.report(snapshot);
    snapshot.figure("flush_order_ends_total", guard.ends());
  }

  private static Snapshot.Task task(Operation operation, long now) {
    return new Snapshot.Task(
        operation.name(),
        KIND,
        operation.scope().text(),
        operation.isHeld() ? TaskState.HELD : TaskState.RUNNING,
        "",
        operation.doneBytes(),
        0,
        operation.bytesPerSecondAt(now),
        operation.orderedWaitSeconds(),
        operation.ageSecondsAt(now));
  }
}
