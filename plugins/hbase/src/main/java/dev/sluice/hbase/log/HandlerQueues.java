package dev.sluice.hbase.log;

import dev.sluice.local.redirect.RedirectLimits;
import dev.sluice.local.redirect.RedirectThreshold;
import dev.sluice.local.redirect.Tier;
import java.util.EnumMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The queue of a tier is the handlers that wait until its log is synced. It needs nothing of the
 * devices, and is never longer than there are handlers.
 */
final class HandlerQueues extends LogQueues {
  private final Map<Tier, AtomicInteger> waiting = new EnumMap<>(Tier.class);

  HandlerQueues() {
    super(RedirectThreshold.returningAtOnce());
    for (Tier tier : Tier.values()) {
      waiting.put(tier, new AtomicInteger());
    }
  }

  @Override
  boolean redirects(double sizeBytes, RedirectLimits limits) {
    int waitingForFast = waiting(Tier.FAST);
    threshold.observe(waitingForFast, limits);
    return threshold.redirects(sizeBytes, limits) && isWorth(waitingForFast);
  }

  /**
   * A sync is for all that wait for it, unlike a request of a block device, so the slow log need
   * not be idle: it takes edits as long as it is not the one that more handlers wait for.
   */
  private boolean isWorth(int waitingForFast) {
    return waiting(Tier.SLOW) <= waitingForFast;
  }

  private int waiting(Tier tier) {
    return waiting.get(tier).get();
  }

  @Override
  OptionalLong requests(Tier tier) {
    return OptionalLong.of(waiting(tier));
  }

  @Override
  void begun(Tier tier) {
    waiting.get(tier).incrementAndGet();
  }

  @Override
  void ended(Tier tier) {
    waiting.get(tier).decrementAndGet();
  }
}
