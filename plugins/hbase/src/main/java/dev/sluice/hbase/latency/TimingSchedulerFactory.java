package dev.sluice.hbase.latency;

import dev.sluice.hbase.requests.AdmittedCalls;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Abortable;
import org.apache.hadoop.hbase.ipc.PriorityFunction;
import org.apache.hadoop.hbase.ipc.RpcScheduler;
import org.apache.hadoop.hbase.regionserver.RpcSchedulerFactory;

/** Named by hbase.region.server.rpc.scheduler.factory.class. */
public final class TimingSchedulerFactory implements RpcSchedulerFactory {
  /** Upstream's deprecated form, which nothing calls. */
  @Override
  @Deprecated
  public RpcScheduler create(Configuration conf, PriorityFunction priority) {
    return create(conf, priority, null);
  }

  @Override
  public RpcScheduler create(Configuration conf, PriorityFunction priority, Abortable server) {
    return new TimingScheduler(
        conf, priority, server, OperationLatencies.of(server), new AdmittedCalls(server));
  }
}
