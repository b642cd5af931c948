package dev.sluice.hbase.log;

import dev.sluice.local.redirect.RedirectLimits;
import dev.sluice.local.redirect.RedirectThreshold;
import dev.sluice.local.redirect.Tier;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

/**
 * Which tier's log an edit goes to where there are logs on both at once. The queue of a tier is the
 * handlers that wait until its log is synced.
 */
final class TierChooser {
  private final Supplier<Optional<Tier>> ordered;
  private final Supplier<Optional<RedirectLimits>> limits;
  private final RedirectThreshold threshold = new RedirectThreshold();
  private final Map<Tier, AtomicInteger> waiting = new EnumMap<>(Tier.class);
  private final Map<Tier, LongAdder> edits = new EnumMap<>(Tier.class);

  TierChooser(Supplier<Optional<Tier>> ordered, Supplier<Optional<RedirectLimits>> limits) {
    this.ordered = ordered;
    this.limits = limits;
    for (Tier tier : Tier.values()) {
      waiting.put(tier, new AtomicInteger());
      edits.put(tier, new LongAdder());
    }
  }

  /** The tier for an edit of so many bytes. */
  Tier choose(long sizeBytes) {
    Tier tier = ordered.get().orElseGet(() -> byThreshold(sizeBytes));
    edits.get(tier).increment();
    return tier;
  }

  private Tier byThreshold(long sizeBytes) {
    Optional<RedirectLimits> now = limits.get();
    if (now.isEmpty()) {
      // What it has lost is from a time that later limits have nothing to do with.
      threshold.reset();
      return Tier.FAST;
    }
    int waitingForFast = waiting(Tier.FAST);
    threshold.observe(waitingForFast, now.get());
    boolean isRedirected = threshold.redirects(sizeBytes, now.get()) && isWorth(waitingForFast);
    return isRedirected ? Tier.SLOW : Tier.FAST;
  }

  /**
   * A sync is for all that wait for it, unlike a request of a block device, so the slow log need
   * not be idle: it takes edits as long as it is not the one that more handlers wait for.
   */
  private boolean isWorth(int waitingForFast) {
    return waiting(Tier.SLOW) <= waitingForFast;
  }

  /** To be called before a handler waits for a log, and {@link #ended} afterwards. */
  void begun(Tier tier) {
    waiting.get(tier).incrementAndGet();
  }

  void ended(Tier tier) {
    waiting.get(tier).decrementAndGet();
  }

  int waiting(Tier tier) {
    return waiting.get(tier).get();
  }

  /** The size above which edits are redirected now; empty if none are. */
  Optional<Double> thresholdBytes() {
    return limits.get().map(threshold::sizeBytes);
  }

  long edits(Tier tier) {
    return edits.get(tier).sum();
  }
}
