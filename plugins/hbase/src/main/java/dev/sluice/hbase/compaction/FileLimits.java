package dev.sluice.hbase.compaction;

/**
 * How many files a store may have.
 *
 * @param files those it has
 * @param trigger with which the store compacts by itself
 * @param blocking with which it makes writes wait
 */
record FileLimits(long files, long trigger, long blocking) {
  // Of the way from the trigger to the blocking count: what is left is for the flushes that come
  // while the compaction catches up.
  private static final double END_SHARE = 0.75;
  private static final double RELEASE_SHARE = 0.5;

  /** With so many files every order ends. */
  long end() {
    return Math.max(1, Math.min(blocking - 1, at(END_SHARE)));
  }

  boolean atEnd() {
    return files >= end();
  }

  /** Whether there is room enough for orders again. */
  boolean belowRelease() {
    return files < Math.max(2, Math.min(end(), at(RELEASE_SHARE)));
  }

  /** How much of the way to the end is gone; a single file is no way at all. */
  double share() {
    return end() <= 1 ? 1 : (double) Math.max(0, files - 1) / (end() - 1);
  }

  /** The same for the number of files at which the store compacts by itself. */
  double triggerShare() {
    return end() <= 1 ? 1 : Math.min(1, (double) Math.max(1, trigger - 1) / (end() - 1));
  }

  private long at(double share) {
    return trigger + (long) Math.ceil(share * Math.max(0, blocking - trigger));
  }
}
