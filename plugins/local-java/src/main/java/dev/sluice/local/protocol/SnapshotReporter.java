package dev.sluice.local.protocol;

/** Knows a part of the state of the store. */
@FunctionalInterface
public interface SnapshotReporter {
  /** Adds what it knows, from memory alone: it is asked once a second. */
  void report(Snapshot.Builder snapshot);
}
