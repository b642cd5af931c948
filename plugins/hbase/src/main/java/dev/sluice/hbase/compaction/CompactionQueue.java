package dev.sluice.hbase.compaction;

import dev.sluice.local.lease.Aspect;
import dev.sluice.local.lease.Lease;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;

/**
 * Compactions that orders put off. A task is kept until the debt that an order names is there, or
 * until there is room below the ordered concurrency; in any case until its order ends. It hands
 * tasks back without its lock.
 */
final class CompactionQueue {
  // How long a task may take to begin, from its release or from when it runs, and count as one that
  // runs. It may never begin: its store may find nothing to do.
  private static final long RELEASE_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long START_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final LeaseStore leases;
  private final LongSupplier nanoTime;
  private final ToLongFunction<Scope> debtBytes;
  private final BooleanSupplier mustRun;

  // By store: its tasks are released together. Never empty lists.
  private final Map<String, List<Candidate>> kept = new HashMap<>();
  private final Map<String, Pending> released = new HashMap<>();
  private final Map<String, Pending> starting = new HashMap<>();
  private final Map<String, Scope> running = new HashMap<>();

  private record Pending(Scope scope, long untilNanos) {}

  /**
   * Makes an empty queue.
   *
   * @param debtBytes debt of a scope
   * @param mustRun whether nothing may be put off now
   */
  CompactionQueue(
      LeaseStore leases,
      LongSupplier nanoTime,
      ToLongFunction<Scope> debtBytes,
      BooleanSupplier mustRun) {
    this.leases = leases;
    this.nanoTime = nanoTime;
    this.debtBytes = debtBytes;
    this.mustRun = mustRun;
  }

  /** Whether a task is kept; otherwise it runs now. */
  synchronized boolean keeps(Candidate candidate) {
    forgetLate();
    if (released.containsKey(candidate.key())) {
      return false;
    }
    if (goesAnyway(candidate) || mayRun(candidate, new HashMap<>())) {
      long until = nanoTime.getAsLong() + START_NANOS;
      starting.put(candidate.key(), new Pending(candidate.scope(), until));
      return false;
    }
    kept.computeIfAbsent(candidate.key(), key -> new ArrayList<>()).add(candidate);
    return true;
  }

  /** Has the tasks of a store run, whatever the orders are, and says how many were kept. */
  int start(String key, Scope scope) {
    List<Candidate> going;
    synchronized (this) {
      admit(key, scope);
      going = take(key);
    }
    going.forEach(candidate -> candidate.resubmit().run());
    return going.size();
  }

  /** Hands back the tasks of a store, which are not to run. */
  void giveBack(String key) {
    List<Candidate> going;
    synchronized (this) {
      going = take(key);
    }
    going.forEach(candidate -> candidate.resubmit().run());
  }

  /** Notes that a compaction has begun. */
  synchronized void started(String operation, String key, Scope scope) {
    released.remove(key);
    starting.remove(key);
    running.put(operation, scope);
  }

  /** Notes that a compaction has ended. */
  synchronized void finished(String operation) {
    running.remove(operation);
  }

  /** Hands back what no order puts off any more, in the order of priority. */
  void release() {
    List<Candidate> going = new ArrayList<>();
    synchronized (this) {
      forgetLate();
      Map<Scope, Long> debts = new HashMap<>();
      for (Candidate candidate : inOrder()) {
        if (goesAnyway(candidate)) {
          going.addAll(take(candidate.key()));
        } else if (mayRun(candidate, debts)) {
          admit(candidate.key(), candidate.scope());
          going.addAll(take(candidate.key()));
        }
      }
    }
    going.forEach(candidate -> candidate.resubmit().run());
  }

  /** Hands back everything. */
  void releaseAll() {
    List<Candidate> going;
    synchronized (this) {
      going = kept.values().stream().flatMap(List::stream).toList();
      kept.clear();
    }
    going.forEach(candidate -> candidate.resubmit().run());
  }

  /** The most urgent task of each store that is kept, the first to be released first. */
  synchronized List<Candidate> inOrder() {
    long now = nanoTime.getAsLong();
    Comparator<Candidate> urgency =
        Comparator.comparingInt(Candidate::priority)
            .thenComparingLong(candidate -> candidate.sinceNanos() - now);
    Comparator<Candidate> byOrder =
        Comparator.comparingDouble(candidate -> -orderedPriority(candidate));
    return kept.values().stream()
        .map(tasks -> Collections.min(tasks, urgency))
        .sorted(byOrder.thenComparing(urgency))
        .toList();
  }

  private double orderedPriority(Candidate candidate) {
    return leases
        .mostSpecific(CompactionPart.KIND, Aspect.PRIORITY, candidate.scope())
        .map(lease -> lease.setting().number())
        .orElse(0.0);
  }

  /** All tasks of a store go at once: one of them finds its files, the others end by themselves. */
  private List<Candidate> take(String key) {
    List<Candidate> taken = kept.remove(key);
    return taken == null ? List.of() : taken;
  }

  private void admit(String key, Scope scope) {
    released.put(key, new Pending(scope, nanoTime.getAsLong() + RELEASE_NANOS));
  }

  private void forgetLate() {
    long now = nanoTime.getAsLong();
    released.values().removeIf(each -> now - each.untilNanos() >= 0);
    starting.values().removeIf(each -> now - each.untilNanos() >= 0);
  }

  private boolean goesAnyway(Candidate candidate) {
    return mustRun.getAsBoolean() || !candidate.open().getAsBoolean();
  }

  /** What it asks about debts it keeps in a map, since that takes a look at every store. */
  private boolean mayRun(Candidate candidate, Map<Scope, Long> debts) {
    boolean hasDebt =
        leases
            .mostSpecific(CompactionPart.KIND, Aspect.DEFERRAL, candidate.scope())
            .map(
                lease ->
                    debts.computeIfAbsent(lease.scope(), debtBytes::applyAsLong)
                        >= lease.setting().number())
            .orElse(true);
    return hasDebt && hasRoom(candidate.scope());
  }

  private boolean hasRoom(Scope scope) {
    for (Lease lease : leases.widening(CompactionPart.KIND, Aspect.CONCURRENCY, scope)) {
      if (busy(lease.scope()) >= lease.setting().number()) {
        return false;
      }
    }
    return true;
  }

  /** How many in a scope run, or were released and are about to. */
  private long busy(Scope scope) {
    return running.values().stream().filter(scope::contains).count()
        + released.values().stream().filter(each -> scope.contains(each.scope())).count()
        + starting.values().stream().filter(each -> scope.contains(each.scope())).count();
  }
}
