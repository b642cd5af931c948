package dev.sluice.cassandra.compaction;

import com.google.common.util.concurrent.RateLimiter;
import java.lang.reflect.Method;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Finds the monitor that a rate limiter of Guava guards itself with. */
final class LimiterMonitor {
  private static final Logger LOG = LoggerFactory.getLogger(LimiterMonitor.class);

  private LimiterMonitor() {}

  /** The monitor; empty, with a word in the log, for a version of Guava that has none. */
  static Optional<Object> of(RateLimiter limiter) {
    try {
      Method mutex = RateLimiter.class.getDeclaredMethod("mutex");
      mutex.setAccessible(true);
      return Optional.of(mutex.invoke(limiter));
    } catch (ReflectiveOperationException | RuntimeException e) {
      LOG.error("compactions cannot be held: this version of Guava is not known", e);
      return Optional.empty();
    }
  }
}
