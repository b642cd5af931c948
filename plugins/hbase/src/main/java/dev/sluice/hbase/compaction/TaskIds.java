package dev.sluice.hbase.compaction;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Names of compactions in snapshots. One keeps its name from the queue to its end, and a name is
 * not given twice. Of those of a store that wait, one is shown.
 */
final class TaskIds {
  // A task that goes from one queue to another is in none for a moment.
  private static final long KEPT_NANOS = TimeUnit.SECONDS.toNanos(10);

  private record Waiting(String id, long seenNanos) {}

  private final LongSupplier nanoTime;
  private final Map<String, Waiting> waiting = new HashMap<>();
  private long given;

  TaskIds(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** The names of the tasks that wait, by their stores; those of others are forgotten. */
  synchronized Map<String, String> show(Collection<String> stores) {
    long now = nanoTime.getAsLong();
    Map<String, String> ids = new HashMap<>();
    for (String store : stores) {
      Waiting known = waiting.get(store);
      String id = known == null ? newId(store) : known.id();
      waiting.put(store, new Waiting(id, now));
      ids.put(store, id);
    }
    waiting.values().removeIf(each -> now - each.seenNanos() >= KEPT_NANOS);
    return ids;
  }

  /** The name of a task that begins, which has waited or not. */
  synchronized String begin(String store) {
    Waiting known = waiting.remove(store);
    return known == null ? newId(store) : known.id();
  }

  /** Whose task has this name and has not begun. */
  synchronized Optional<String> storeOfWaiting(String id) {
    return waiting.entrySet().stream()
        .filter(entry -> entry.getValue().id().equals(id))
        .map(Map.Entry::getKey)
        .findFirst();
  }

  /** Short enough for the protocol, whatever the family is called; the region is all that tells. */
  private String newId(String store) {
    return store.split("#", 2)[0] + "#" + given++;
  }
}
