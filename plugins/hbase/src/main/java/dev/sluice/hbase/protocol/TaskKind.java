package dev.sluice.hbase.protocol;

import dev.sluice.hbase.lease.Scope;
import dev.sluice.hbase.lease.Setting;
import dev.sluice.hbase.lease.SettingName;
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

  /** Refuses what the limits of the store forbid now. */
  default void checkOrder(Scope scope, Setting setting) throws Refusal {}

  /** Starts tasks in a scope that exists; the lease of the order, if any, is in force already. */
  default void start(Scope scope) throws Refusal {
    throw new UnsupportedOperationException(kind() + " cannot be started");
  }
}
