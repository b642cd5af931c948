package dev.sluice.cassandra.cache;

import dev.sluice.cassandra.OverriddenValue;
import dev.sluice.local.lease.Aspect;
import dev.sluice.local.lease.Lease;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import dev.sluice.local.protocol.Refusal;
import dev.sluice.local.protocol.Snapshot;
import dev.sluice.local.protocol.TaskKind;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.cassandra.cache.ChunkCache;
import org.apache.cassandra.metrics.CacheMetrics;

/** The capacities of the node's caches. That of chunks of files has figures only. */
public final class CachePart implements TaskKind {
  static final String KIND = "cache";

  // Of Java's heap, in which keys and counters are kept.
  private static final double MOST_OF_HEAP = 0.5;

  private final LeaseStore leases;
  private final Map<NodeCache, OverriddenValue<Long>> capacities = new EnumMap<>(NodeCache.class);

  /** Makes it for a node that has started. */
  public CachePart(LeaseStore leases) {
    this.leases = leases;
    for (NodeCache cache : NodeCache.values()) {
      capacities.put(cache, new OverriddenValue<>(cache::capacityMebibytes, cache::setCapacity));
    }
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
    return leases
        .find(KIND, Aspect.RESERVED_BYTES, cache.scope())
        .map(Lease::setting)
        .map(setting -> NodeCache.mebibytes(setting.number()));
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
    Optional<NodeCache> cache =
        Arrays.stream(NodeCache.values()).filter(each -> each.scope().equals(scope)).findFirst();
    if (cache.isEmpty()) {
      throw Refusal.invalid(
          "\"" + scope.text() + "\" is no cache",
          "Scopes are key-cache, row-cache, counter-cache.");
    }
    if (capacities.get(cache.get()).own() == 0) {
      throw Refusal.refused(
          scope.text() + " is off in the node's configuration",
          "Give it a size in cassandra.yaml, and restart the node.");
    }
    double most = Runtime.getRuntime().maxMemory() * MOST_OF_HEAP;
    if (setting.number() > most) {
      throw Refusal.refused(
          "%.0f bytes are more than half of Java's heap".formatted(setting.number()),
          "Order %.0f or less.".formatted(most));
    }
  }

  @Override
  public void report(Snapshot.Builder snapshot) {
    for (NodeCache cache : NodeCache.values()) {
      report(snapshot, cache.scope().text().replace('-', '_'), cache.metrics());
    }
    if (ChunkCache.instance != null) {
      report(snapshot, "chunk_cache", ChunkCache.instance.metrics);
    }
  }

  private static void report(Snapshot.Builder snapshot, String name, CacheMetrics metrics) {
    snapshot.figure(name + "_capacity_bytes", metrics.capacity.getValue());
    snapshot.figure(name + "_used_bytes", metrics.size.getValue());
    snapshot.figure(name + "_hits_total", metrics.hits.getCount());
    snapshot.figure(name + "_misses_total", metrics.misses.getCount());
  }
}
