package dev.sluice.hbase.offload;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.hadoop.hbase.coprocessor.ObserverContext;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessorEnvironment;
import org.apache.hadoop.hbase.coprocessor.RegionObserver;
import org.apache.hadoop.hbase.regionserver.ScanOptions;
import org.apache.hadoop.hbase.regionserver.ScanType;
import org.apache.hadoop.hbase.regionserver.Store;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionLifeCycleTracker;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionRequest;
import org.junit.jupiter.api.Test;

class EligibilityTest {
  private static class KeepsAll implements RegionObserver {
    @Override
    public void preCompactScannerOpen(
        ObserverContext<RegionCoprocessorEnvironment> context,
        Store store,
        ScanType scanType,
        ScanOptions options,
        CompactionLifeCycleTracker tracker,
        CompactionRequest request) {
      options.readAllVersions();
    }
  }

  private static final class Inherits extends KeepsAll {}

  private static final class Counts implements RegionObserver {
    @Override
    public void preOpen(ObserverContext<RegionCoprocessorEnvironment> context) {}
  }

  @Test
  void anObserverOfCompactionsIsTold() {
    assertTrue(Eligibility.hasHook(new KeepsAll()));
    assertTrue(Eligibility.hasHook(new Inherits()));
  }

  @Test
  void anObserverOfOtherThingsIsNone() {
    assertFalse(Eligibility.hasHook(new Counts()));
    assertFalse(Eligibility.hasHook(new RegionObserver() {}));
  }
}
