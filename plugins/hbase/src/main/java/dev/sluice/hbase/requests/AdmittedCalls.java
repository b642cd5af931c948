package dev.sluice.hbase.requests;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.Abortable;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcServerInterface;
import org.apache.hadoop.hbase.quotas.RpcThrottlingException;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Turns calls away, with the exception of upstream's quotas: clients wait as long as it says. */
public final class AdmittedCalls {
  private static final Logger LOG = LoggerFactory.getLogger(AdmittedCalls.class);
  private static final long NANOS_PER_MILLISECOND = TimeUnit.MILLISECONDS.toNanos(1);

  private final Abortable server;
  private final RequestLimits limits;

  /** Those of a server, which may not serve yet. */
  public AdmittedCalls(Abortable server) {
    this.server = server;
    this.limits = RequestLimits.of(server);
  }

  /** Whether a call is taken; one that is not has been answered. */
  public boolean take(RpcCall call) {
    long waitNanos = limits.take(call.getParam());
    if (waitNanos > 0) {
      turnAway(call, (waitNanos + NANOS_PER_MILLISECOND - 1) / NANOS_PER_MILLISECOND);
    }
    return waitNanos == 0;
  }

  /** Does what CallRunner.drop does for one that has waited for too long. */
  private void turnAway(RpcCall call, long waitMilliseconds) {
    RpcThrottlingException why = after(waitMilliseconds);
    try {
      if (server instanceof RegionServerServices services) {
        RpcServerInterface rpcServer = services.getRpcServer();
        rpcServer.addCallSize(-call.getSize());
        rpcServer.getMetrics().exception(why);
      }
      call.setResponse(null, null, why, why.getMessage());
      call.sendResponseIfReady();
    } catch (IOException e) {
      LOG.debug("a client that was turned away is gone", e);
    } finally {
      call.cleanup();
    }
  }

  private static RpcThrottlingException after(long milliseconds) {
    try {
      RpcThrottlingException.throwNumRequestsExceeded(milliseconds);
    } catch (RpcThrottlingException e) {
      return e;
    }
    throw new IllegalStateException("upstream has not thrown what it should");
  }
}
