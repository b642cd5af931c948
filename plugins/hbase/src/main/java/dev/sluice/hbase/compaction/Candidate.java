package dev.sluice.hbase.compaction;

import dev.sluice.local.lease.Scope;
import java.util.function.BooleanSupplier;

/**
 * A queued compaction that the store asks about, before it runs.
 *
 * @param key the same for all tasks of a store
 * @param open whether it can run at all: a region that closes gives up what is queued
 * @param bytes of the files that are selected, 0 if none are yet
 * @param priority the store's, less is first
 * @param requestedMillis when the store has queued it, in the time of the store
 * @param resubmit has the store ask again
 */
record Candidate(
    String key,
    Scope scope,
    BooleanSupplier open,
    long bytes,
    boolean major,
    int priority,
    long sinceNanos,
    long requestedMillis,
    Runnable resubmit) {}
