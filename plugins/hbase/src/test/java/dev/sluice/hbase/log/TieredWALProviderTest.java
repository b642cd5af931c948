package dev.sluice.hbase.log;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.junit.jupiter.api.Test;

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
}
