package dev.sluice.hbase.master;

import dev.sluice.local.lease.Lease;
import org.apache.hadoop.hbase.DoNotRetryIOException;

/**
 * What a chore of the master is told in place of a step that a lease puts off: it goes on without
 * the step, and tries again by itself in its next run.
 */
final class PutOffException extends DoNotRetryIOException {
  private static final long serialVersionUID = 1L;

  PutOffException(String step, Lease lease) {
    super(
        "no failure: "
            + step
            + " is put off, since \""
            + lease.owner()
            + "\" has a lease on "
            + lease.kind()
            + " of \""
            + lease.scope().text()
            + "\"");
  }

  /** The master logs it as an error: the place in the plug-in says nothing. */
  @Override
  public synchronized Throwable fillInStackTrace() {
    return this;
  }
}
