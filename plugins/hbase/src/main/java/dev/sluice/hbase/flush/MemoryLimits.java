package dev.sluice.hbase.flush;

/**
 * How much memory the writes of a region may take.
 *
 * @param bytes what they take
 * @param trigger at which the region is flushed
 * @param blocking at which its writes are refused
 */
record MemoryLimits(long bytes, long trigger, long blocking) {
  private static final double END_SHARE = 0.75;
  private static final double RELEASE_SHARE = 0.5;

  boolean atEnd() {
    return share() >= END_SHARE;
  }

  boolean belowRelease() {
    return share() < RELEASE_SHARE;
  }

  /** How much of the way to the blocking size is gone. */
  double share() {
    return blocking <= 0 ? 0 : (double) bytes / blocking;
  }
}
