package dev.sluice.local.plugin;

import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.protocol.Refusal;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends every order on a kind of tasks when the store comes near to a bound, and has none taken
 * until it is away from it. Who extends it looks at the store, one look at a time.
 */
public abstract class OrderGuard {
  private static final Logger LOG = LoggerFactory.getLogger(OrderGuard.class);

  private final LeaseStore leases;
  private final String kind;
  private final String hint;
  private volatile String reason = "";
  private volatile long ends;

  /**
   * Makes one that takes orders.
   *
   * @param hint what to do where an order is refused
   */
  protected OrderGuard(LeaseStore leases, String kind, String hint) {
    this.leases = leases;
    this.kind = kind;
    this.hint = hint;
  }

  /**
   * Ends all orders, also those that were checked just before; to be called at each look that finds
   * the store near to its bound.
   *
   * @param why what is near to which bound
   */
  protected final void trip(String why) {
    boolean first = !isTripped();
    reason = why;
    int ended = leases.end(lease -> lease.kind().equals(kind));
    if (first) {
      ends = ends + 1;
      LOG.warn("{}: {} orders on {} end, and none is taken until that is over", why, ended, kind);
    }
  }

  /** Has orders taken again. */
  protected final void release() {
    reason = "";
    LOG.info("orders on {} are taken again", kind);
  }

  public final boolean isTripped() {
    return !reason.isEmpty();
  }

  /** How often it had to end orders. */
  public final long ends() {
    return ends;
  }

  /** Refuses an order as long as none is taken. */
  public final void refuseIfTripped() throws Refusal {
    String now = reason;
    if (!now.isEmpty()) {
      throw Refusal.refused(now, hint);
    }
  }
}
