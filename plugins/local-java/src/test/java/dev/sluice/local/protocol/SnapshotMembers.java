package dev.sluice.local.protocol;

import java.util.List;
import java.util.Map;

/** What reporters have put into a snapshot, for tests of other packages. */
public final class SnapshotMembers {
  private final Map<String, Object> members;

  private SnapshotMembers(Map<String, Object> members) {
    this.members = members;
  }

  /** What a reporter shows. */
  public static SnapshotMembers of(SnapshotReporter reporter) {
    Snapshot.Builder builder = new Snapshot.Builder();
    reporter.report(builder);
    return new SnapshotMembers(builder.build(List.of()));
  }

  /** The figure of this name, or null. */
  public Double figure(String name) {
    return (Double) figures().get(name);
  }

  public Map<?, ?> figures() {
    return (Map<?, ?>) members.get("figures");
  }

  public List<?> tasks() {
    return (List<?>) members.get("tasks");
  }

  public List<?> latencies() {
    return (List<?>) members.get("latencies");
  }
}
