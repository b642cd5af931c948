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
  /**
   * Tells the store's own value when somebody else has set it while an order was in force.
   *
   * @param <T> a value, which may have parts that are set one by one
   */
  @FunctionalInterface
  public interface Change<T> {
    /** The own value, by what the store has now, what the order had set and what was its own. */
    T own(T now, T ordered, T before);
  }

  private final Supplier<T> get;
  private final Consumer<T> set;
  private final Change<T> change;
  private T own;
  private T applied;

  /** Makes it; nothing is set before an order is there. */
  public OverriddenValue(Supplier<T> get, Consumer<T> set) {
    this(get, set, (now, ordered, before) -> now);
  }

  /** The same for a value of which others may set a part. */
  public OverriddenValue(Supplier<T> get, Consumer<T> set, Change<T> change) {
    this.get = get;
    this.set = set;
    this.change = change;
  }

  /** Follows what is ordered now. */
  public synchronized void follow(Optional<T> ordered) {
    T now = get.get();
    own = own(now);
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
    return own(get.get());
  }

  private T own(T now) {
    if (applied == null) {
      return now;
    }
    return now.equals(applied) ? own : change.own(now, applied, own);
  }
}
