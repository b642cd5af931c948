package dev.sluice.local.lease;

/** What a setting is about: of one kind, scope and aspect there is at most one lease. */
public enum Aspect {
  PACE,
  SYNC_GAP,
  DEFERRAL,
  CONCURRENCY,
  PRIORITY,
  RESERVED_BYTES,
  TIER,
  REDIRECT_QUEUE,
  REDIRECT_SIZE,
  REDIRECT_STEP
}
