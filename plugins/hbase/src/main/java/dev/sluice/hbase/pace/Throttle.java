package dev.sluice.hbase.pace;

import dev.sluice.local.lease.LeaseStore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/** Makes the threads of operations wait as long as they have to. */
public final class Throttle {
  /** Ends a wait, whatever bounds the operation. */
  @FunctionalInterface
  public interface Safety {
    /**
     * Whether it goes on at once.
     *
     * @throws InterruptedException if it must end, its work undone
     */
    boolean letsGo(Operation operation) throws InterruptedException;
  }

  /** After how many bytes an operation looks again at what bounds it. */
  static final long CHECK_BYTES = 64 << 10;

  // How late what ends a wait without a change of leases can be seen.
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final LongSupplier nanoTime;
  private final PaceControl pace;
  private final Safety safety;

  /** Makes one for the operations of a kind. */
  public Throttle(
      String kind,
      LeaseStore leases,
      LongSupplier nanoTime,
      Supplier<StockPace> stock,
      IntSupplier operationCount,
      Safety safety) {
    this.nanoTime = nanoTime;
    this.pace = new PaceControl(kind, leases, stock, operationCount);
    this.safety = safety;
    leases.addListener(this::wake);
  }

  /** Has all who wait look again at what bounds them. */
  public void wake() {
    lock.lock();
    try {
      pace.forgetUnusedBuckets();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Has the thread of an operation wait if it has to; to be called after each of its steps.
   *
   * @return how long it has waited, in nanoseconds
   * @throws InterruptedException if it must end, its work undone
   */
  public long pause(Operation operation) throws InterruptedException {
    operation.throwIfAborted();
    // The first step is looked at, however small: else one with less to do would obey no order.
    if (operation.isCharged() && operation.unchargedBytes() < CHECK_BYTES) {
      return 0;
    }
    long start = nanoTime.getAsLong();
    if (letsGo(operation)) {
      pass(operation, start);
      return 0;
    }
    charge(operation, start);
    try {
      while (!letsGo(operation) && awaitOnce(operation)) {
        // Each time all that bounds it is looked at anew.
        operation.throwIfAborted();
      }
    } finally {
      operation.held(false);
    }
    return nanoTime.getAsLong() - start;
  }

  private boolean letsGo(Operation operation) throws InterruptedException {
    operation.letGo(safety.letsGo(operation));
    return operation.isLetGo();
  }

  /** Charges what is left at the end of an operation, and never has it wait. */
  public void finish(Operation operation) {
    long now = nanoTime.getAsLong();
    if (operation.isLetGo()) {
      pass(operation, now);
    } else {
      charge(operation, now);
    }
  }

  private void pass(Operation operation, long now) {
    lock.lock();
    try {
      pace.pass(operation, now);
    } finally {
      lock.unlock();
    }
  }

  private void charge(Operation operation, long now) {
    lock.lock();
    try {
      pace.charge(operation, now);
    } finally {
      lock.unlock();
    }
  }

  /** Waits until something may have changed; false if there is nothing to wait for. */
  private boolean awaitOnce(Operation operation) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long start = nanoTime.getAsLong();
      Wait wait = pace.waitFor(operation, start);
      if (wait.isOver()) {
        return false;
      }
      operation.held(wait.held());
      changed.awaitNanos(Math.min(wait.nanos(), POLL_NANOS));
      if (wait.ordered()) {
        operation.addOrderedWait(nanoTime.getAsLong() - start);
      }
      return true;
    } finally {
      lock.unlock();
    }
  }
}
