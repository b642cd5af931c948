package dev.sluice.local.protocol;

import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import java.util.List;

/**
 * A kind of background task, as far as the protocol can order and show it. Many threads call it.
 */
public interface TaskKind extends SnapshotReporter {
  /** A word of the protocol, such as "compaction". */
  String kind();

  /** What orders may set; the same until the store restarts. */
  List<SettingName> settings();

  default boolean canStart() {
    return false;
  }

  /** Which sorts of tasks a client may choose from when it starts one; empty for no choice. */
  default List<String> variants() {
    return List.of();
  }

  /** Refuses what the limits of the store forbid now. */
  default void checkOrder(Scope scope, Setting setting) throws Refusal {}

  /**
   * Starts tasks in a scope that exists; the lease of the order, if any, is in force already.
   *
   * @param variant one of {@link #variants}, empty if the client leaves the choice to the store
   */
  default void start(Scope scope, String variant) throws Refusal {
    throw new UnsupportedOperationException(kind() + " cannot be started");
  }

  default boolean canAbort() {
    return false;
  }

  /**
   * Has a task end, its work undone, and does not wait for that.
   *
   * @param task as snapshots name it
   */
  default void abort(String task, String owner) throws Refusal {
    throw new UnsupportedOperationException(kind() + " cannot be aborted");
  }
}
