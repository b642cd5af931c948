package dev.sluice.hbase.master;

import java.util.List;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.BalanceRequest;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.coprocessor.MasterCoprocessorEnvironment;
import org.apache.hadoop.hbase.coprocessor.MasterObserver;
import org.apache.hadoop.hbase.coprocessor.ObserverContext;
import org.apache.hadoop.hbase.ipc.RpcServer;
import org.apache.hadoop.hbase.master.RegionPlan;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the steps of the master's chores from those that somebody asks for, which are never put
 * off: the latter run in the thread of a call. What the master does by itself besides, such as
 * recovery, comes by none of these hooks.
 */
final class ChoreObserver implements MasterObserver {
  private static final Logger LOG = LoggerFactory.getLogger(ChoreObserver.class);

  // As RegionNormalizerManager names its thread.
  private static final String NORMALIZER_THREAD = "normalizer-worker-";

  private final Balancing balancing;
  private final Normalization normalization;

  ChoreObserver(Balancing balancing, Normalization normalization) {
    this.balancing = balancing;
    this.normalization = normalization;
  }

  /** A step of a chore that may be put off. */
  @FunctionalInterface
  private interface Step {
    void ask() throws PutOffException;
  }

  /** Anything else that is thrown would end the master. */
  private static void guarded(Step step) throws PutOffException {
    try {
      step.ask();
    } catch (RuntimeException | LinkageError e) {
      LOG.error("the plug-in has failed: nothing is put off", e);
    }
  }

  @Override
  public void preBalance(
      ObserverContext<MasterCoprocessorEnvironment> context, BalanceRequest request)
      throws PutOffException {
    if (request.isDryRun()) {
      return;
    }
    guarded(isAskedFor() ? balancing::begin : balancing::beginByChore);
  }

  @Override
  public void postBalance(
      ObserverContext<MasterCoprocessorEnvironment> context,
      BalanceRequest request,
      List<RegionPlan> plans)
      throws PutOffException {
    if (!request.isDryRun()) {
      guarded(() -> balancing.end(plans == null ? 0 : plans.size()));
    }
  }

  @Override
  public void preSplitRegion(
      ObserverContext<MasterCoprocessorEnvironment> context, TableName table, byte[] splitRow)
      throws PutOffException {
    if (isNormalizer()) {
      guarded(() -> normalization.split(table.getNameAsString()));
    }
  }

  @Override
  public void preMergeRegions(
      ObserverContext<MasterCoprocessorEnvironment> context, RegionInfo[] regions)
      throws PutOffException {
    if (isNormalizer()) {
      guarded(() -> normalization.merge(regions[0].getTable().getNameAsString()));
    }
  }

  private static boolean isAskedFor() {
    return RpcServer.isInRpcCallContext();
  }

  private static boolean isNormalizer() {
    return !isAskedFor() && Thread.currentThread().getName().startsWith(NORMALIZER_THREAD);
  }
}
