package dev.sluice.cassandra.compaction;

import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import dev.sluice.local.protocol.Refusal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which scopes orders on compactions may have, of those that there are. */
class CompactionScopeTest {
  private static final Setting DEFERRAL = Setting.of(SettingName.DEFER_UNTIL_DEBT_BYTES, 1);

  @Test
  void theNodeAndItsTablesArePutOff() throws Exception {
    CompactionPart.checkScope(Scope.SERVER, DEFERRAL);
    CompactionPart.checkScope(Scope.ofTable("shop.orders"), DEFERRAL);
  }

  @ParameterizedTest
  @ValueSource(strings = {"key-cache", "row-cache", "counter-cache"})
  void aCacheHasNothingToPutOff(String cache) {
    assertThrows(Refusal.class, () -> CompactionPart.checkScope(Scope.ofTable(cache), DEFERRAL));
  }

  @Test
  void aPaceIsOfTheNode() throws Exception {
    Setting hold = Setting.of(SettingName.HOLD);
    CompactionPart.checkScope(Scope.SERVER, hold);
    assertThrows(
        Refusal.class, () -> CompactionPart.checkScope(Scope.ofTable("shop.orders"), hold));
  }
}
