package dev.sluice.hbase.log;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.local.redirect.Tier;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

class LogFolderTest {
  private static final String OWN_KEY = "hbase.wal.storage.policy";

  private final Configuration conf = new Configuration(false);

  private Optional<String> policy(Tier tier) {
    return LogFolder.policy(conf, Optional.ofNullable(tier));
  }

  @Test
  void eachTierHasItsPolicy() {
    assertEquals(Optional.of("ALL_SSD"), policy(Tier.FAST));
    assertEquals(Optional.of("HOT"), policy(Tier.SLOW));
    conf.set(LogFolder.POLICY_KEYS.get(Tier.FAST), " ONE_SSD ");
    assertEquals(Optional.of("ONE_SSD"), policy(Tier.FAST));
  }

  /** Each move has all logs rolled. */
  @Test
  void logsThatAreWhereTheyAreOrderedToBeAreNotMoved() {
    for (Tier tier : Tier.values()) {
      assertEquals(Optional.of(tier), LogFolder.tierToMoveTo(conf, Optional.of(tier)));
    }
    conf.set(OWN_KEY, "ALL_SSD");
    assertEquals(Optional.empty(), LogFolder.tierToMoveTo(conf, Optional.of(Tier.FAST)));
    assertEquals(Optional.of(Tier.SLOW), LogFolder.tierToMoveTo(conf, Optional.of(Tier.SLOW)));
    assertEquals(Optional.empty(), LogFolder.tierToMoveTo(conf, Optional.empty()));
  }

  @Test
  void withoutAnOrderItIsTheStoresOwn() {
    assertEquals(Optional.empty(), policy(null));
    conf.set(OWN_KEY, "ONE_SSD");
    assertEquals(Optional.of("ONE_SSD"), policy(null));
    for (String none : List.of("NONE", " none ", "", " ")) {
      conf.set(OWN_KEY, none);
      assertEquals(Optional.empty(), policy(null), "'" + none + "'");
    }
  }
}
