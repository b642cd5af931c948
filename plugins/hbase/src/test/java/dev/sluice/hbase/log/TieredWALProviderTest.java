package dev.sluice.hbase.log;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TieredWALProviderTest {
  @Test
  void twoLogsNeedRegionsThatCanReplayThem() {
    HRegionServer server = mock(HRegionServer.class);
    IOException refusal =
        assertThrows(
            IOException.class,
            () -> new TieredWALProvider().init(null, new Configuration(false), "id", server));
    assertTrue(refusal.getMessage().contains("hbase.hregion.impl"));
    assertTrue(refusal.getMessage().contains(TieredLogRegion.class.getName()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"hbase.region.replica.replication.enabled", "hbase.wal.split.to.hfile"})
  void whatNeedsTheOrderOfOneLogIsRefused(String key) {
    Configuration conf = new Configuration(false);
    conf.setClass("hbase.hregion.impl", TieredLogRegion.class, HRegion.class);
    conf.setBoolean(key, true);
    HRegionServer server = mock(HRegionServer.class);
    IOException refusal =
        assertThrows(
            IOException.class, () -> new TieredWALProvider().init(null, conf, "id", server));
    assertTrue(refusal.getMessage().contains("set " + key + " to false"), refusal.getMessage());
  }
}
