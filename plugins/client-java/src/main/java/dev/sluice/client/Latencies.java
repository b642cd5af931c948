package dev.sluice.client;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * How long requests took, by operation and part of the store, in bounded memory: parts beyond a
 * number are not told apart.
 */
final class Latencies {
  static final int MOST_SERIES = 512;
  private static final int MOST_SCOPE_CHARACTERS = 340;
  private static final String UNKNOWN = "";

  /** Which requests. */
  record Key(Operation operation, String scope) implements Comparable<Key> {
    @Override
    public int compareTo(Key other) {
      int byScope = scope.compareTo(other.scope);
      return byScope != 0 ? byScope : operation.compareTo(other.operation);
    }
  }

  private final ConcurrentMap<Key, Series> series = new ConcurrentHashMap<>();

  Latencies() {
    for (Operation operation : Operation.values()) {
      series.put(new Key(operation, UNKNOWN), new Series());
    }
  }

  Series of(Operation operation, String scope) {
    Series known = series.get(new Key(operation, scope));
    return known != null ? known : first(operation, scope);
  }

  private Series first(Operation operation, String scope) {
    // Two threads may both be the last one: the bound is not that sharp.
    if (series.size() >= MOST_SERIES || !canBeTold(scope)) {
      return series.get(new Key(operation, UNKNOWN));
    }
    return series.computeIfAbsent(new Key(operation, scope), key -> new Series());
  }

  /**
   * A character has up to three bytes, a scope up to 1024, none of which is a control character.
   */
  private static boolean canBeTold(String scope) {
    return scope.length() <= MOST_SCOPE_CHARACTERS
        && scope
            .chars()
            .noneMatch(c -> Character.isISOControl(c) || Character.isSurrogate((char) c));
  }

  /** What there was since the last call, in the order of the keys, without what is empty. */
  Map<Key, Series.Told> take() {
    Map<Key, Series.Told> told = new TreeMap<>();
    series.forEach(
        (key, each) -> {
          Series.Told taken = each.take();
          if (taken.requests() > 0) {
            told.put(key, taken);
          }
        });
    return told;
  }
}
