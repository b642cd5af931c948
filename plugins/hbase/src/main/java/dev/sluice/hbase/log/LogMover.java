package dev.sluice.hbase.log;

import dev.sluice.local.redirect.Tier;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has the logs go where they are ordered to, one move at a time and on a thread of its own, since
 * the file system may take long to answer. A move that fails is tried again.
 */
final class LogMover {
  /** Where the logs are. */
  interface Logs {
    /**
     * Has what is logged from now on go to a tier.
     *
     * @param tier empty for the one of the store's configuration
     */
    void moveTo(Optional<Tier> tier) throws IOException;
  }

  private static final Logger LOG = LoggerFactory.getLogger(LogMover.class);
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Supplier<Optional<Tier>> ordered;
  private final Logs logs;
  private final Executor executor;
  private final LongSupplier nanoTime;

  // Guarded by this.
  private Optional<Tier> tier = Optional.empty();
  private boolean isStale;
  private boolean isBusy;
  private boolean isClosed;
  private Optional<Long> failedAt = Optional.empty();
  private long moves;
  private long failures;

  LogMover(Supplier<Optional<Tier>> ordered, Logs logs, Executor executor, LongSupplier nanoTime) {
    this.ordered = ordered;
    this.logs = logs;
    this.executor = executor;
    this.nanoTime = nanoTime;
  }

  /** Begins to move the logs unless they are where they should be; to be called at any time. */
  synchronized void look() {
    Optional<Tier> wanted = ordered.get();
    boolean isDue = isStale || !wanted.equals(tier);
    if (isClosed || isBusy || !isDue || hasJustFailed()) {
      return;
    }
    isBusy = true;
    isStale = false;
    executor.execute(() -> move(wanted));
  }

  private boolean hasJustFailed() {
    return failedAt.map(at -> nanoTime.getAsLong() - at < RETRY_NANOS).orElse(false);
  }

  private void move(Optional<Tier> wanted) {
    boolean isDone = false;
    try {
      logs.moveTo(wanted);
      isDone = true;
    } catch (IOException | RuntimeException e) {
      LOG.warn("the logs were not moved: it is tried again", e);
    } finally {
      moved(wanted, isDone);
    }
    // The order may be another one by now.
    look();
  }

  private synchronized void moved(Optional<Tier> wanted, boolean isDone) {
    isBusy = false;
    if (isDone) {
      tier = wanted;
      failedAt = Optional.empty();
      moves++;
    } else {
      isStale = true;
      failedAt = Optional.of(nanoTime.getAsLong());
      failures++;
    }
  }

  /**
   * Has the next look move the logs again, where there is an order: something has moved them. A
   * move that goes on may have been before that.
   */
  synchronized void setStale() {
    isStale = isStale || isBusy || tier.isPresent();
  }

  /** Moves nothing any more. */
  synchronized void close() {
    isClosed = true;
  }

  synchronized long moves() {
    return moves;
  }

  synchronized long failures() {
    return failures;
  }
}
