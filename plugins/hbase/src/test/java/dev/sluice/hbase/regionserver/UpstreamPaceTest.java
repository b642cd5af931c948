package dev.sluice.hbase.regionserver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import org.apache.hadoop.hbase.regionserver.throttle.NoLimitThroughputController;
import org.apache.hadoop.hbase.regionserver.throttle.PressureAwareCompactionThroughputController;
import org.apache.hadoop.hbase.regionserver.throttle.PressureAwareFlushThroughputController;
import org.apache.hadoop.hbase.regionserver.throttle.ThroughputController;
import org.junit.jupiter.api.Test;

class UpstreamPaceTest {
  private static final String KEY = "sluice.compaction.stock.controller";

  private static Optional<String> complaint(ThroughputController controller) {
    return UpstreamPace.complaint(KEY, controller);
  }

  @Test
  void whereAPaceCannotBeAskedForItIsTold() {
    String told = complaint(new LeasedControllerTest.Counting()).orElseThrow();
    assertTrue(told.startsWith(KEY + " names " + LeasedControllerTest.class.getName()), told);
  }

  @Test
  void upstreamsOwnAreFine() {
    assertEquals(Optional.empty(), complaint(new PressureAwareCompactionThroughputController()));
    assertEquals(Optional.empty(), complaint(new PressureAwareFlushThroughputController()));
    assertEquals(Optional.empty(), complaint(new NoLimitThroughputController()));
  }
}
