package dev.sluice.local.lease;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * The leases of a server, in memory alone. Whether one has ended is decided whenever it is read, by
 * a monotonic clock, so that no thread has to run for it to end. Readers take no lock.
 */
public final class LeaseStore {
  private static final double NANOS_PER_SECOND = 1e9;

  /** A lease that was just given, and the one in force that it is in the place of. */
  public record Given(Lease lease, Optional<Lease> before) {}

  private record Place(String kind, Aspect aspect, Scope scope) {}

  private final LongSupplier nanoTime;
  private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

  // Replaced as a whole, never changed.
  private volatile Map<Place, Lease> leases = Map.of();

  /** Makes a store whose time is that of a monotonic clock, such as {@code System::nanoTime}. */
  public LeaseStore(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Calls back after every change: an order, a lease that was cleared or has ended. */
  public void addListener(Runnable changed) {
    listeners.add(changed);
  }

  /** Gives, renews or replaces a lease. */
  public Lease set(
      String kind,
      Scope scope,
      Setting setting,
      String owner,
      double timeToLiveSeconds,
      boolean replace)
      throws LeaseConflictException {
    return give(kind, scope, setting, owner, timeToLiveSeconds, replace).lease();
  }

  /** The same, for who may have to {@link #revert} it. */
  public Given give(
      String kind,
      Scope scope,
      Setting setting,
      String owner,
      double timeToLiveSeconds,
      boolean replace)
      throws LeaseConflictException {
    Given given;
    synchronized (this) {
      Optional<Lease> before = find(kind, setting.aspect(), scope);
      refuseConflict(before, owner, replace);
      long end = nanoTime.getAsLong() + (long) (timeToLiveSeconds * NANOS_PER_SECOND);
      given = new Given(new Lease(kind, scope, setting, owner, end), before);
      Map<Place, Lease> changed = new HashMap<>(leases);
      changed.put(new Place(kind, setting.aspect(), scope), given.lease());
      leases = Map.copyOf(changed);
    }
    notifyListeners();
    return given;
  }

  /** Takes back a lease that was just given, unless it has been replaced since. */
  public void revert(Lease given, Optional<Lease> before) {
    synchronized (this) {
      Place place = new Place(given.kind(), given.setting().aspect(), given.scope());
      if (leases.get(place) != given) {
        return;
      }
      Map<Place, Lease> changed = new HashMap<>(leases);
      changed.remove(place);
      before.ifPresent(lease -> changed.put(place, lease));
      leases = Map.copyOf(changed);
    }
    notifyListeners();
  }

  private static void refuseConflict(Optional<Lease> held, String owner, boolean replace)
      throws LeaseConflictException {
    if (held.isPresent() && !replace && !held.get().owner().equals(owner)) {
      throw new LeaseConflictException(held.get());
    }
  }

  /** Ends those of an owner, and says how many. */
  public int clear(String owner) {
    return end(lease -> lease.owner().equals(owner));
  }

  /** Ends those of an owner on one kind and scope, and says how many. */
  public int clear(String owner, String kind, Scope scope) {
    return end(
        lease ->
            lease.owner().equals(owner)
                && lease.kind().equals(kind)
                && lease.scope().equals(scope));
  }

  /** Ends those that match, whoever has them, and says how many. */
  public int end(Predicate<Lease> matches) {
    int ended = 0;
    int forgotten = 0;
    synchronized (this) {
      long now = nanoTime.getAsLong();
      Map<Place, Lease> left = new HashMap<>(leases);
      for (Map.Entry<Place, Lease> entry : leases.entrySet()) {
        Lease lease = entry.getValue();
        if (lease.endedAt(now)) {
          left.remove(entry.getKey());
          forgotten++;
        } else if (matches.test(lease)) {
          left.remove(entry.getKey());
          ended++;
        }
      }
      leases = Map.copyOf(left);
    }
    if (ended + forgotten > 0) {
      notifyListeners();
    }
    return ended;
  }

  /**
   * Forgets those whose time is over and tells the listeners. Nothing but listeners depends on how
   * often it is called.
   */
  public void sweep() {
    long now = nanoTime.getAsLong();
    boolean due = leases.values().stream().anyMatch(lease -> lease.endedAt(now));
    if (due) {
      end(lease -> false);
    }
  }

  /** The lease on exactly this scope. */
  public Optional<Lease> find(String kind, Aspect aspect, Scope scope) {
    Map<Place, Lease> now = leases;
    if (now.isEmpty()) {
      return Optional.empty();
    }
    Lease lease = now.get(new Place(kind, aspect, scope));
    boolean holds = lease != null && !lease.endedAt(nanoTime.getAsLong());
    return holds ? Optional.of(lease) : Optional.empty();
  }

  /** The leases on this scope and on those that contain it, the narrowest first. */
  public List<Lease> widening(String kind, Aspect aspect, Scope scope) {
    if (leases.isEmpty()) {
      return List.of();
    }
    List<Lease> found = new ArrayList<>();
    for (Scope wider : scope.widening()) {
      find(kind, aspect, wider).ifPresent(found::add);
    }
    return found;
  }

  /** The lease on the narrowest scope that is or contains this one. */
  public Optional<Lease> mostSpecific(String kind, Aspect aspect, Scope scope) {
    return widening(kind, aspect, scope).stream().findFirst();
  }

  /** All that are in force. */
  public List<Lease> all() {
    long now = nanoTime.getAsLong();
    return leases.values().stream().filter(lease -> !lease.endedAt(now)).toList();
  }

  /** All of a kind that are in force. */
  public List<Lease> all(String kind) {
    return all().stream().filter(lease -> lease.kind().equals(kind)).toList();
  }

  /** Time until a lease ends. */
  public double secondsLeft(Lease lease) {
    return lease.secondsLeftAt(nanoTime.getAsLong());
  }

  private void notifyListeners() {
    listeners.forEach(Runnable::run);
  }
}
