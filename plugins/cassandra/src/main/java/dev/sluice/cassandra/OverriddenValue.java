package dev.sluice.cassandra;

import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A value of the store that an order overrides for some time. When the order ends the store has its
 * own value back: the one that it had when the order came, or the one that somebody else has set
 * since, as nodetool does. While the order is in force it wins over such a change.
 */
public final class OverriddenValue<T> {
  private final Supplier<T> get;
  private final Consumer<T> set;
  private T own;
  private T applied;

  /** Makes it; nothing is set before an order is there. */
  public OverriddenValue(Supplier<T> get, Consumer<T> set) {
    this.get = get;
    this.set = set;
  }

  /** Follows what is ordered now. */
  public synchronized void follow(Optional<T> ordered) {
    T now = get.get();
    boolean isElsewhereChanged = applied != null && !now.equals(applied);
    if (applied == null || isElsewhereChanged) {
      own = now;
    }
    if (ordered.isPresent()) {
      setUnless(now, ordered.get());
      // As the store keeps it, which may round.
      applied = get.get();
    } else if (applied != null) {
      setUnless(now, own);
      applied = null;
    }
  }

  private void setUnless(T now, T wanted) {
    if (!now.equals(wanted)) {
      set.accept(wanted);
    }
  }

  /** The store's own value, whether overridden or not. */
  public synchronized T own() {
    T now = get.get();
    return applied == null || !now.equals(applied) ? now : own;
  }
}
