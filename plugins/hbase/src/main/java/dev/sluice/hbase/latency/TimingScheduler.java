package dev.sluice.hbase.latency;

import dev.sluice.hbase.requests.AdmittedCalls;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Abortable;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.ipc.CallRunner;
import org.apache.hadoop.hbase.ipc.PriorityFunction;
import org.apache.hadoop.hbase.ipc.SimpleRpcScheduler;
import org.apache.hadoop.hbase.ipc.TimedCallRunner;

/**
 * Upstream's scheduler; each request for rows that is not turned away is timed from its arrival to
 * its answer.
 */
final class TimingScheduler extends SimpleRpcScheduler {
  private final OperationLatencies latencies;
  private final AdmittedCalls admitted;

  /** With as many handlers as SimpleRpcSchedulerFactory gives it. */
  TimingScheduler(
      Configuration conf,
      PriorityFunction priority,
      Abortable server,
      OperationLatencies to,
      AdmittedCalls admitted) {
    super(
        conf,
        conf.getInt(
            HConstants.REGION_SERVER_HANDLER_COUNT, HConstants.DEFAULT_REGION_SERVER_HANDLER_COUNT),
        conf.getInt(
            HConstants.REGION_SERVER_HIGH_PRIORITY_HANDLER_COUNT,
            HConstants.DEFAULT_REGION_SERVER_HIGH_PRIORITY_HANDLER_COUNT),
        conf.getInt(
            HConstants.REGION_SERVER_REPLICATION_HANDLER_COUNT,
            HConstants.DEFAULT_REGION_SERVER_REPLICATION_HANDLER_COUNT),
        conf.getInt(
            HConstants.MASTER_META_TRANSITION_HANDLER_COUNT,
            HConstants.MASTER__META_TRANSITION_HANDLER_COUNT_DEFAULT),
        priority,
        server,
        HConstants.QOS_THRESHOLD);
    this.latencies = to;
    this.admitted = admitted;
  }

  @Override
  public boolean dispatch(CallRunner task) {
    Optional<Operation> operation = Operation.of(task.getRpcCall().getParam());
    if (operation.isEmpty()) {
      return super.dispatch(task);
    }
    return !admitted.take(task.getRpcCall()) || dispatchTimed(task, operation.get());
  }

  private boolean dispatchTimed(CallRunner task, Operation operation) {
    long arrival = latencies.now();
    boolean isTaken =
        super.dispatch(
            new TimedCallRunner(
                task,
                () -> latencies.answered(operation, arrival),
                () -> latencies.failed(operation)));
    if (!isTaken) {
      latencies.failed(operation);
    }
    return isTaken;
  }
}
