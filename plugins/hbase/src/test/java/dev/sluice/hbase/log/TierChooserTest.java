package dev.sluice.hbase.log;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.local.redirect.RedirectLimits;
import dev.sluice.local.redirect.Tier;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class TierChooserTest {
  private Optional<Tier> ordered = Optional.empty();
  private Optional<RedirectLimits> limits = Optional.of(new RedirectLimits(1, 1000, 0.5));
  private final TierChooser chooser =
      new TierChooser(() -> ordered, () -> limits, new HandlerQueues());

  @Test
  void withoutLimitsAllGoesToTheFastLog() {
    limits = Optional.empty();
    assertEquals(Tier.FAST, chooser.choose(1_000_000));
  }

  @Test
  void theQueuesSayWhichEditsAreRedirected() {
    assertEquals(Tier.FAST, chooser.choose(1000));
    assertEquals(Tier.SLOW, chooser.choose(1001));
    chooser.begun(Tier.SLOW);
    assertEquals(Tier.FAST, chooser.choose(1001));
    chooser.ended(Tier.SLOW);
    assertEquals(Tier.SLOW, chooser.choose(1001));
  }

  @Test
  void whatTheThresholdHasLostDoesNotOutliveItsLimits() {
    chooser.begun(Tier.FAST);
    chooser.begun(Tier.FAST);
    assertEquals(Tier.SLOW, chooser.choose(600));
    chooser.ended(Tier.FAST);
    Optional<RedirectLimits> former = limits;
    limits = Optional.empty();
    assertEquals(Tier.FAST, chooser.choose(600));
    limits = former;
    assertEquals(Tier.FAST, chooser.choose(600));
  }

  @Test
  void anOrderNamesTheLog() {
    ordered = Optional.of(Tier.SLOW);
    chooser.begun(Tier.SLOW);
    assertEquals(Tier.SLOW, chooser.choose(1));
    ordered = Optional.of(Tier.FAST);
    assertEquals(Tier.FAST, chooser.choose(5000));
    assertEquals(1, chooser.edits(Tier.SLOW));
    assertEquals(1, chooser.edits(Tier.FAST));
  }
}
