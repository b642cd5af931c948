package org.apache.hadoop.hbase.ipc;

import org.apache.hadoop.hbase.monitoring.MonitoredRPCHandler;

/**
 * A call whose end is told, on the thread of its handler. It is in upstream's package because only
 * there a runner may be made, and the outcome of a call be seen.
 */
public final class TimedCallRunner extends CallRunner {
  private final CallRunner runner;
  private final Runnable onAnswer;
  private final Runnable onError;

  /** Without a call of its own, which would count its size twice. */
  public TimedCallRunner(CallRunner runner, Runnable onAnswer, Runnable onError) {
    super(null, null);
    this.runner = runner;
    this.onAnswer = onAnswer;
    this.onError = onError;
  }

  @Override
  public RpcCall getRpcCall() {
    return runner.getRpcCall();
  }

  @Override
  public void setStatus(MonitoredRPCHandler status) {
    runner.setStatus(status);
  }

  @Override
  public void run() {
    RpcCall call = runner.getRpcCall();
    boolean isEnded = false;
    try {
      runner.run();
      isEnded = true;
    } finally {
      (isEnded && isAnswered(call) ? onAnswer : onError).run();
    }
  }

  @Override
  public void drop() {
    runner.drop();
    onError.run();
  }

  /**
   * False where the call failed, and where it was given up because its time or its client was gone.
   */
  private static boolean isAnswered(RpcCall call) {
    return !(call instanceof ServerCall<?> served)
        || served.getResponse() != null && !served.isError;
  }
}
