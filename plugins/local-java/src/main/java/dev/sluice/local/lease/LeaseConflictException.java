package dev.sluice.local.lease;

/** Another owner has the lease that was asked for. */
public final class LeaseConflictException extends Exception {
  private static final long serialVersionUID = 1L;

  private final transient Lease lease;

  LeaseConflictException(Lease lease) {
    super("\"" + lease.owner() + "\" has the lease, with " + lease.setting());
    this.lease = lease;
  }

  /** The lease that is in the way. */
  public Lease lease() {
    return lease;
  }
}
