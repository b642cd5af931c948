package dev.sluice.hbase.cache;

import dev.sluice.hbase.regionserver.PluginPart;
import dev.sluice.hbase.regionserver.RegionServerPlugin;
import dev.sluice.local.lease.Lease;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import dev.sluice.local.protocol.FigureName;
import dev.sluice.local.protocol.Refusal;
import dev.sluice.local.protocol.Snapshot;
import dev.sluice.local.protocol.TaskKind;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.regionserver.Region;
import org.apache.hadoop.hbase.util.Bytes;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the reservations of the block cache as the leases of kind "cache" say, on a thread of its
 * own: to move blocks takes long where there are many, and what tells of leases must not wait.
 */
public final class CacheReservations implements PluginPart, TaskKind {
  static final String KIND = "cache";
  // So that the figures of all families fit into a snapshot, which has at most 1000.
  private static final int MAX_SHOWN_FAMILIES = 100;

  private static final Logger LOG = LoggerFactory.getLogger(CacheReservations.class);

  private final ExecutorService thread = newThread();
  private FamilyBlockCache cache;
  private LeaseStore leases;
  private BooleanSupplier isStopping;
  private Supplier<Set<CacheScope>> openFamilies;

  /** At most one change waits in it, which follows all the orders before its turn. */
  static ExecutorService newThread() {
    return new ThreadPoolExecutor(
        1,
        1,
        0,
        TimeUnit.SECONDS,
        new ArrayBlockingQueue<>(1),
        work -> {
          Thread made = new Thread(work, "sluice-cache");
          made.setDaemon(true);
          return made;
        },
        new ThreadPoolExecutor.DiscardPolicy());
  }

  /** Offers nothing where the region server has another block cache. */
  @Override
  public void attach(RegionServerPlugin plugin) {
    BlockCache found = plugin.services().getBlockCache().orElse(null);
    if (!(found instanceof FamilyBlockCache families)) {
      LOG.info(
          "no reservations of the block cache: hfile.block.cache.policy is not {} on a patched"
              + " store, or there is a bucket cache",
          FamilyBlockCache.class.getName());
      return;
    }
    attach(
        families,
        plugin.leases(),
        thread,
        plugin::isStopping,
        () -> familiesOf(plugin.services().getRegions()));
    plugin.register(this);
  }

  void attach(
      FamilyBlockCache families,
      LeaseStore from,
      Executor mover,
      BooleanSupplier stopping,
      Supplier<Set<CacheScope>> open) {
    cache = families;
    leases = from;
    isStopping = stopping;
    openFamilies = open;
    leases.addListener(() -> mover.execute(this::apply));
  }

  private static Set<CacheScope> familiesOf(List<? extends Region> regions) {
    Set<CacheScope> open = new HashSet<>();
    for (Region region : regions) {
      TableDescriptor table = region.getTableDescriptor();
      for (byte[] family : table.getColumnFamilyNames()) {
        open.add(new CacheScope(table.getTableName(), Bytes.toString(family)));
      }
    }
    return open;
  }

  @Override
  public void detach() {
    thread.shutdown();
  }

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public List<SettingName> settings() {
    return List.of(SettingName.RESERVED_BYTES);
  }

  @Override
  public void checkOrder(Scope scope, Setting setting) throws Refusal {
    if (scope.table().isEmpty()) {
      throw Refusal.refused(
          "memory is reserved for a table or a family, and the scope is all of the server",
          "Name a table, or TABLE/FAMILY.");
    }
    try {
      cache.checkReservation(cacheScope(scope), setting.number().doubleValue(), ordered());
    } catch (ReservationRefused refused) {
      throw Refusal.refused(refused.getMessage(), refused.hint());
    }
  }

  private static CacheScope cacheScope(Scope scope) {
    return new CacheScope(TableName.valueOf(scope.table()), scope.family());
  }

  private static long bytes(Setting setting) {
    return setting.number().longValue();
  }

  /** What is to be reserved when all blocks have moved. */
  private Map<CacheScope, Long> ordered() {
    return leases.all(KIND).stream()
        .filter(lease -> bytes(lease.setting()) > 0)
        .collect(
            Collectors.toMap(
                lease -> cacheScope(lease.scope()), lease -> bytes(lease.setting()), Math::max));
  }

  private void apply() {
    // The cache goes with its server: its blocks need not move any more.
    if (isStopping.getAsBoolean()) {
      return;
    }
    try {
      followLeases();
    } catch (RuntimeException e) {
      LOG.error("reservations of the block cache are not as ordered", e);
    }
  }

  /** Ends the reservations whose leases have ended, then follows the others, smaller ones first. */
  private void followLeases() {
    Map<CacheScope, Lease> wanted = new HashMap<>();
    leases.all(KIND).forEach(lease -> wanted.put(cacheScope(lease.scope()), lease));
    Map<CacheScope, Long> kept = cache.reservations();
    kept.keySet().stream().filter(scope -> !wanted.containsKey(scope)).forEach(cache::release);

    Comparator<Map.Entry<CacheScope, Lease>> byGrowth =
        Comparator.comparingLong(
            each -> bytes(each.getValue().setting()) - kept.getOrDefault(each.getKey(), 0L));
    for (Map.Entry<CacheScope, Lease> each : wanted.entrySet().stream().sorted(byGrowth).toList()) {
      if (!follow(each.getKey(), each.getValue())) {
        return;
      }
    }
  }

  /** False if the lease had to be ended; all that is left is followed anew then. */
  private boolean follow(CacheScope scope, Lease lease) {
    try {
      cache.reserve(scope, bytes(lease.setting()));
      return true;
    } catch (ReservationRefused refused) {
      // Two orders at once can both have passed the check, or the cache has shrunk since.
      LOG.warn("the lease of {} on {} ends: {}", lease.owner(), scope, refused.getMessage());
      leases.end(lease::equals);
      return false;
    }
  }

  @Override
  public void report(Snapshot.Builder snapshot) {
    Map<CacheScope, Long> reserved = cache.reservations();
    snapshot.figure("cache_capacity_bytes", cache.getMaxSize());
    snapshot.figure("cache_used_bytes", cache.getCurrentSize());
    snapshot.figure(
        "cache_reserved_bytes", reserved.values().stream().mapToLong(Long::longValue).sum());
    snapshot.figure("cache_reservable_bytes", cache.reservableBytes());
    reserved.forEach((scope, bytes) -> snapshot.figure(figureName(scope, "reserved_bytes"), bytes));
    Set<CacheScope> open = openFamilies.get();
    // Tables that are gone may have been looked up more often than any that is read now.
    cache.reports().stream()
        .sorted(
            Comparator.comparing((FamilyReport each) -> !open.contains(each.scope()))
                .thenComparingLong(each -> -each.hits() - each.misses()))
        .limit(MAX_SHOWN_FAMILIES)
        .forEach(each -> report(each, snapshot));
  }

  private static void report(FamilyReport family, Snapshot.Builder snapshot) {
    snapshot.figure(figureName(family.scope(), "bytes"), family.bytes());
    snapshot.figure(figureName(family.scope(), "hits_total"), family.hits());
    snapshot.figure(figureName(family.scope(), "misses_total"), family.misses());
    snapshot.figure(figureName(family.scope(), "evictions_total"), family.evictions());
  }

  private static String figureName(CacheScope scope, String suffix) {
    return FigureName.of("cache", scope.toString(), suffix);
  }
}
