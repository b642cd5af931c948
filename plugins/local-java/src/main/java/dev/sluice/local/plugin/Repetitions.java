package dev.sluice.local.plugin;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/** What happens again and again is told once a minute: it may happen ten times a second. */
final class Repetitions {
  private static final long PERIOD_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final Map<String, Long> told = new ConcurrentHashMap<>();
  private final LongSupplier nanoTime;

  Repetitions(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /**
   * Whether to tell of it now, which it takes for done.
   *
   * @param what one of few: each is kept
   */
  boolean isDue(String what) {
    long now = nanoTime.getAsLong();
    Long before = told.get(what);
    if (before != null && now - before < PERIOD_NANOS) {
      return false;
    }
    told.put(what, now);
    return true;
  }
}
