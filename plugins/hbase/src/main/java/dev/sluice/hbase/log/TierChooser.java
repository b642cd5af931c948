package dev.sluice.hbase.log;

import dev.sluice.local.redirect.RedirectLimits;
import dev.sluice.local.redirect.Tier;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;

/** Which tier's log an edit goes to where there are logs on both at once. */
final class TierChooser {
  private final Supplier<Optional<Tier>> ordered;
  private final Supplier<Optional<RedirectLimits>> limits;
  private final LogQueues queues;
  private final Map<Tier, LongAdder> edits = new EnumMap<>(Tier.class);

  TierChooser(
      Supplier<Optional<Tier>> ordered,
      Supplier<Optional<RedirectLimits>> limits,
      LogQueues queues) {
    this.ordered = ordered;
    this.limits = limits;
    this.queues = queues;
    for (Tier tier : Tier.values()) {
      edits.put(tier, new LongAdder());
    }
  }

  /** The tier for an edit of so many bytes. */
  Tier choose(long sizeBytes) {
    Tier tier = ordered.get().orElseGet(() -> byQueues(sizeBytes));
    edits.get(tier).increment();
    return tier;
  }

  private Tier byQueues(long sizeBytes) {
    Optional<RedirectLimits> now = limits.get();
    if (now.isEmpty()) {
      queues.forget();
      return Tier.FAST;
    }
    return queues.redirects(sizeBytes, now.get()) ? Tier.SLOW : Tier.FAST;
  }

  /** To be called before a handler waits for a log, and {@link #ended} afterwards. */
  void begun(Tier tier) {
    queues.begun(tier);
  }

  void ended(Tier tier) {
    queues.ended(tier);
  }

  /** Requests that a tier has to do; empty where that cannot be known. */
  OptionalLong requests(Tier tier) {
    return queues.requests(tier);
  }

  /** The size above which edits are redirected now; empty if none are. */
  Optional<Double> thresholdBytes() {
    return limits.get().map(queues::thresholdBytes);
  }

  long edits(Tier tier) {
    return edits.get(tier).sum();
  }
}
