package dev.sluice.hbase.master;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import dev.sluice.local.protocol.SnapshotMembers;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.BalanceRequest;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.junit.jupiter.api.Test;

class ChoreObserverTest {
  private static final TableName TABLE = TableName.valueOf("shop:orders");
  private static final RegionInfo[] REGIONS = {RegionInfoBuilder.newBuilder(TABLE).build()};
  private static final BalanceRequest RUN = BalanceRequest.defaultInstance();
  private static final BalanceRequest TRIAL = BalanceRequest.newBuilder().setDryRun(true).build();

  private boolean isClockBroken;
  private final LeaseStore leases = new LeaseStore(this::nanoTime);
  private final Balancing balancing = new Balancing(leases, System::nanoTime, 330);
  private final Normalization normalization = new Normalization(leases, System::nanoTime);
  private final ChoreObserver observer = new ChoreObserver(balancing, normalization);

  private long nanoTime() {
    if (isClockBroken) {
      throw new IllegalStateException("a fault of the plug-in");
    }
    return System.nanoTime();
  }

  private void holdAll() throws Exception {
    Setting hold = Setting.of(SettingName.HOLD);
    leases.set(Balancing.KIND, Scope.SERVER, hold, "test", 600, false);
    leases.set(Normalization.KIND, Scope.SERVER, hold, "test", 600, false);
  }

  private static void runIn(String threadName, Callable<Void> call) throws Exception {
    FutureTask<Void> task = new FutureTask<>(call);
    new Thread(task, threadName).start();
    try {
      task.get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof PutOffException putOff) {
        throw putOff;
      }
      throw e;
    }
  }

  private Void split() throws PutOffException {
    observer.preSplitRegion(null, TABLE, null);
    return null;
  }

  private Void merge() throws PutOffException {
    observer.preMergeRegions(null, REGIONS);
    return null;
  }

  @Test
  void splitsAndMergesOfTheNormalizerAlonePutOff() throws Exception {
    holdAll();
    assertThrows(PutOffException.class, () -> runIn("normalizer-worker-0", this::split));
    assertThrows(PutOffException.class, () -> runIn("normalizer-worker-0", this::merge));
    runIn("PEWorker-1", this::split);
    runIn("PEWorker-1", this::merge);
    assertEquals(
        List.of("shop:orders"),
        SnapshotMembers.of(normalization).tasks().stream()
            .map(task -> ((java.util.Map<?, ?>) task).get("scope"))
            .toList());
  }

  @Test
  void aTrialOfTheBalancerIsNeitherPutOffNorCounted() throws Exception {
    holdAll();
    observer.preBalance(null, TRIAL);
    observer.postBalance(null, TRIAL, List.of());
    assertEquals(0, SnapshotMembers.of(balancing).figure("balancing_runs_total"));
    assertThrows(PutOffException.class, () -> observer.preBalance(null, RUN));
  }

  @Test
  void aFaultOfThePlugInPutsNothingOff() throws Exception {
    holdAll();
    isClockBroken = true;
    observer.preBalance(null, RUN);
    runIn("normalizer-worker-0", this::split);
    runIn("normalizer-worker-0", this::merge);
    isClockBroken = false;
    assertTrue(SnapshotMembers.of(normalization).tasks().isEmpty());
  }

  @Test
  void whatIsPutOffIsNoTraceInTheLogOfTheMaster() throws Exception {
    holdAll();
    PutOffException putOff =
        assertThrows(PutOffException.class, () -> observer.preBalance(null, RUN));
    assertEquals(0, putOff.getStackTrace().length);
  }
}
