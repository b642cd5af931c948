package dev.sluice.cassandra.cache;

import dev.sluice.cassandra.OverriddenValue;
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
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.UnaryOperator;
import org.apache.cassandra.cache.ChunkCache;
import org.apache.cassandra.metrics.CacheMetrics;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The capacities of the node's caches, and what is added to that of rows for tables. The cache of
 * chunks of files has figures only.
 */
public final class CachePart implements TaskKind {
  static final String KIND = "cache";

  /** How large the cache of rows may be made in all. */
  static final String MOST_ROW_BYTES_KEY = "sluice.row.cache.most.bytes";

  private static final Logger LOG = LoggerFactory.getLogger(CachePart.class);
  // Of Java's heap, in which keys and counters are kept.
  private static final double MOST_OF_HEAP = 0.5;
  private static final double LEAST_MOST_ROW_BYTES = 1L << 20;
  private static final double GREATEST_MOST_ROW_BYTES = 1L << 40;

  private final LeaseStore leases;
  private final RowCacheAdditions additions;
  private final double mostRowBytes;
  private final boolean hasRowCache;
  private final Map<NodeCache, OverriddenValue<Long>> capacities = new EnumMap<>(NodeCache.class);

  /** Makes it for a node that has started. */
  public CachePart(LeaseStore leases, UnaryOperator<String> configuration) {
    this.leases = leases;
    this.additions = new RowCacheAdditions(leases);
    this.mostRowBytes = NodeCache.wholeMebibytes(mostRowBytes(configuration));
    this.hasRowCache = NodeCache.ROW.capacityMebibytes() > 0;
    for (NodeCache cache : NodeCache.values()) {
      capacities.put(cache, new OverriddenValue<>(cache::capacityMebibytes, cache::setCapacity));
    }
  }

  /** Rows are kept outside of the heap, but a machine is likely to have been divided by it. */
  private static double mostRowBytes(UnaryOperator<String> configuration) {
    String text = configuration.apply(MOST_ROW_BYTES_KEY);
    if (text == null) {
      return mostOfHeap();
    }
    OptionalDouble number =
        ConfiguredNumber.parse(text, LEAST_MOST_ROW_BYTES, GREATEST_MOST_ROW_BYTES);
    if (number.isEmpty()) {
      LOG.error(
          "{} is \"{}\": half of Java's heap is taken; set it to bytes from {} to {}",
          MOST_ROW_BYTES_KEY,
          text,
          (long) LEAST_MOST_ROW_BYTES,
          (long) GREATEST_MOST_ROW_BYTES);
    }
    return number.orElse(mostOfHeap());
  }

  private static double mostOfHeap() {
    return Runtime.getRuntime().maxMemory() * MOST_OF_HEAP;
  }

  /** Whether a scope is that of a cache. */
  public static boolean hasScope(Scope scope) {
    return Arrays.stream(NodeCache.values()).anyMatch(cache -> cache.scope().equals(scope));
  }

  /** Brings the caches to what is ordered now. */
  public void tick() {
    capacities.forEach((cache, capacity) -> capacity.follow(ordered(cache)));
  }

  private Optional<Long> ordered(NodeCache cache) {
    Optional<Long> capacity = orderedCapacity(cache);
    double added = cache == NodeCache.ROW ? additions.bytes() : 0;
    return added == 0 ? capacity : Optional.of(base(cache) + NodeCache.mebibytes(added));
  }

  private Optional<Long> orderedCapacity(NodeCache cache) {
    return leases
        .find(KIND, Aspect.RESERVED_BYTES, cache.scope())
        .map(Lease::setting)
        .map(setting -> NodeCache.mebibytes(setting.number()));
  }

  /** The capacity to which is added, in MiB. */
  private long base(NodeCache cache) {
    return orderedCapacity(cache).orElseGet(capacities.get(cache)::own);
  }

  @Override
  public String kind() {
    return KIND;
  }

  @Override
  public List<SettingName> settings() {
    return hasRowCache
        ? List.of(SettingName.RESERVED_BYTES, SettingName.ADDED_BYTES)
        : List.of(SettingName.RESERVED_BYTES);
  }

  @Override
  public void checkOrder(Scope scope, Setting setting) throws Refusal {
    if (setting.name() == SettingName.ADDED_BYTES) {
      refuseIfOff(NodeCache.ROW);
      additions.check(scope, setting, addableBytes());
      return;
    }
    NodeCache cache =
        Arrays.stream(NodeCache.values())
            .filter(each -> each.scope().equals(scope))
            .findFirst()
            .orElseThrow(
                () ->
                    Refusal.invalid(
                        "\"" + scope.text() + "\" is no cache",
                        "Scopes are key-cache, row-cache, counter-cache."));
    refuseIfOff(cache);
    double most = cache == NodeCache.ROW ? mostRowBytes - additions.bytes() : mostOfHeap();
    if (setting.number() > most) {
      throw Refusal.refused(
          "%.0f bytes are more than %s may have".formatted(setting.number(), scope.text()),
          "Order %.0f or less.".formatted(Math.max(0, most)));
    }
  }

  private void refuseIfOff(NodeCache cache) throws Refusal {
    if (capacities.get(cache).own() == 0) {
      throw Refusal.refused(
          cache.scope().text() + " is off in the node's configuration",
          "Give it a size in cassandra.yaml, and restart the node.");
    }
  }

  /** By how much the cache of rows may be larger for all tables together. */
  private double addableBytes() {
    return Math.max(0, mostRowBytes - NodeCache.bytes(base(NodeCache.ROW)));
  }

  @Override
  public void report(Snapshot.Builder snapshot) {
    for (NodeCache cache : NodeCache.values()) {
      report(snapshot, cache.scope().text().replace('-', '_'), cache.metrics());
    }
    if (ChunkCache.instance != null) {
      report(snapshot, "chunk_cache", ChunkCache.instance.metrics);
    }
    if (hasRowCache) {
      reportAdditions(snapshot);
    }
  }

  private void reportAdditions(Snapshot.Builder snapshot) {
    CacheMetrics rows = NodeCache.ROW.metrics();
    snapshot.figure("cache_capacity_bytes", rows.capacity.getValue());
    snapshot.figure("cache_used_bytes", rows.size.getValue());
    snapshot.figure("cache_reserved_bytes", additions.bytes());
    snapshot.figure("cache_reservable_bytes", addableBytes());
    additions.report(snapshot);
  }

  private static void report(Snapshot.Builder snapshot, String name, CacheMetrics metrics) {
    snapshot.figure(name + "_capacity_bytes", metrics.capacity.getValue());
    snapshot.figure(name + "_used_bytes", metrics.size.getValue());
    snapshot.figure(name + "_hits_total", metrics.hits.getCount());
    snapshot.figure(name + "_misses_total", metrics.misses.getCount());
  }
}
