package dev.sluice.hbase.compaction;

import dev.sluice.local.lease.Aspect;
import dev.sluice.local.lease.Lease;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
  // Places of the concurrency: a store has one from the release of its tasks until the turn of one
  // of them comes, and from a turn until its compaction begins, each for so long at most, since it
  // may find nothing to do. From there each compaction has its own until it ends. What is started
  // by order has none before its turn, but goes through at each turn, without a time.
  private static final long RELEASE_NANOS = TimeUnit.SECONDS.toNanos(30);
  private static final long START_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final LeaseStore leases;
  private final LongSupplier nanoTime;
  private final RequestClock requests;
  private final ToLongFunction<Scope> debtBytes;
  private final BooleanSupplier mustRun;

  // By store: its tasks are released together. Never empty lists.
  private final Map<String, List<Candidate>> kept = new HashMap<>();
  private final Map<String, Expected> expected = new HashMap<>();
  // By store: the tasks that were requested until then were started by order.
  private final Map<String, RequestClock.Moment> admitted = new HashMap<>();
  private final Map<Object, Scope> running = new HashMap<>();

  /**
   * A store with tasks that are to begin.
   *
   * @param requestedMillis of those that go through: one asks again when it changes queues
   */
  private record Expected(Scope scope, Set<Long> requestedMillis, long untilNanos) {}

  /**
   * Makes an empty queue.
   *
   * @param debtBytes debt of a scope
   * @param mustRun whether nothing may be put off now
   */
  CompactionQueue(
      LeaseStore leases,
      LongSupplier nanoTime,
      RequestClock requests,
      ToLongFunction<Scope> debtBytes,
      BooleanSupplier mustRun) {
    this.leases = leases;
    this.nanoTime = nanoTime;
    this.requests = requests;
    this.debtBytes = debtBytes;
    this.mustRun = mustRun;
  }

  /** Whether a task is kept; otherwise it runs now. */
  synchronized boolean keeps(Candidate candidate) {
    forgetLate();
    if (isExpected(candidate) || goesAnyway(candidate) || mayRun(candidate, new HashMap<>())) {
      expect(List.of(candidate), START_NANOS);
      return false;
    }
    kept.computeIfAbsent(candidate.key(), key -> new ArrayList<>()).add(candidate);
    return true;
  }

  /**
   * Has the tasks of a store that were requested until now run, whatever the orders are and however
   * late their turn comes.
   */
  void start(String key) {
    synchronized (this) {
      admitted.put(key, requests.now());
    }
    giveBack(key);
  }

  synchronized boolean hasKept(String key) {
    return kept.containsKey(key);
  }

  synchronized boolean hasAdmitted() {
    return !admitted.isEmpty();
  }

  /** Forgets what was started by order of stores that are not open here any more. */
  synchronized void retainAdmitted(Set<String> openStores) {
    admitted.keySet().retainAll(openStores);
  }

  /** Hands back the tasks of a store, without a place. */
  void giveBack(String key) {
    List<Candidate> going;
    synchronized (this) {
      going = take(key);
    }
    going.forEach(candidate -> candidate.resubmit().run());
  }

  /** Notes that a compaction, whatever names it, has begun. */
  synchronized void started(Object compaction, String key, Scope scope) {
    expected.remove(key);
    running.put(compaction, scope);
  }

  /** Notes that a compaction has ended. */
  synchronized void finished(Object compaction) {
    running.remove(compaction);
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
          List<Candidate> tasks = take(candidate.key());
          expect(tasks, RELEASE_NANOS);
          going.addAll(tasks);
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

  /** Has tasks of a store go through, with those that do already, on one place for all. */
  private void expect(List<Candidate> tasks, long nanos) {
    Candidate first = tasks.get(0);
    Set<Long> requested = new HashSet<>();
    tasks.forEach(each -> requested.add(each.requestedMillis()));
    Expected before = expected.get(first.key());
    if (before != null) {
      requested.addAll(before.requestedMillis());
    }
    long until = nanoTime.getAsLong() + nanos;
    expected.put(first.key(), new Expected(first.scope(), requested, until));
  }

  private boolean isExpected(Candidate candidate) {
    Expected store = expected.get(candidate.key());
    return store != null && store.requestedMillis().contains(candidate.requestedMillis())
        || isAdmitted(candidate);
  }

  private boolean isAdmitted(Candidate candidate) {
    RequestClock.Moment until = admitted.get(candidate.key());
    return until != null && requests.wasUntil(until, candidate.requestedMillis());
  }

  private void forgetLate() {
    long now = nanoTime.getAsLong();
    expected.values().removeIf(each -> now - each.untilNanos() >= 0);
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

  /** How many in a scope run, or are about to. */
  private long busy(Scope scope) {
    return running.values().stream().filter(scope::contains).count()
        + expected.values().stream().filter(each -> scope.contains(each.scope())).count();
  }
}
