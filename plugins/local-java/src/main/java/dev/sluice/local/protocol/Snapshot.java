package dev.sluice.local.protocol;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The state of the store at one moment, put together by those that know a part of it. */
public final class Snapshot {
  // What fits on a line of the protocol with room to spare; the first ones are kept.
  static final int MAX_TASKS = 1000;
  static final int MAX_DEBTS = 2000;
  // An agent takes nothing of a store that shows more.
  static final int MAX_FIGURES = 1000;

  /**
   * A task that exists.
   *
   * @param phase the store's word for what it is doing; empty if it has none
   * @param bytesTotal 0 if that is not known
   */
  public record Task(
      String id,
      String kind,
      String scope,
      TaskState state,
      String phase,
      long bytesDone,
      long bytesTotal,
      double rateBytesPerSecond,
      double throttledSeconds,
      double ageSeconds) {

    Map<String, Object> toJson() {
      Map<String, Object> members = new LinkedHashMap<>();
      members.put("id", id);
      members.put("kind", kind);
      members.put("scope", scope);
      members.put("state", state.text());
      if (!phase.isEmpty()) {
        members.put("phase", phase);
      }
      members.put("bytes_done", bytesDone);
      members.put("bytes_total", bytesTotal);
      members.put("rate_bytes_per_second", rateBytesPerSecond);
      members.put("throttled_seconds", throttledSeconds);
      members.put("age_seconds", ageSeconds);
      return members;
    }
  }

  /**
   * Work that a kind of task has put off.
   *
   * @param triggerBytes where the store starts a task by itself, 0 for none
   * @param limitBytes the store's hard bound, 0 for none
   */
  public record Debt(
      String kind, String scope, long bytes, long triggerBytes, long limitBytes, long files) {

    Map<String, Object> toJson() {
      Map<String, Object> members = new LinkedHashMap<>();
      members.put("kind", kind);
      members.put("scope", scope);
      members.put("bytes", bytes);
      members.put("trigger_bytes", triggerBytes);
      members.put("limit_bytes", limitBytes);
      members.put("files", files);
      return members;
    }
  }

  /**
   * Latency of a class of requests over an interval that has ended; the times are 0 where the count
   * is.
   *
   * @param requestClass "read" or "write"
   */
  public record Latency(
      String requestClass,
      double ageSeconds,
      double intervalSeconds,
      long count,
      long errors,
      double meanSeconds,
      double p50Seconds,
      double p99Seconds,
      double p999Seconds,
      double maxSeconds) {

    Map<String, Object> toJson() {
      Map<String, Object> members = new LinkedHashMap<>();
      members.put("class", requestClass);
      members.put("age_seconds", ageSeconds);
      members.put("interval_seconds", intervalSeconds);
      members.put("count", count);
      members.put("errors", errors);
      members.put("mean_seconds", meanSeconds);
      members.put("p50_seconds", p50Seconds);
      members.put("p99_seconds", p99Seconds);
      members.put("p999_seconds", p999Seconds);
      members.put("max_seconds", maxSeconds);
      return members;
    }
  }

  /** Latency of a class of requests for a part of the store. */
  public record ScopeLatency(String scope, Latency latency) {
    Map<String, Object> toJson() {
      Map<String, Object> members = new LinkedHashMap<>();
      members.put("scope", scope);
      members.putAll(latency.toJson());
      return members;
    }
  }

  /** Collects the parts. */
  public static final class Builder {
    private final List<Map<String, Object>> tasks = new ArrayList<>();
    private final List<Map<String, Object>> debts = new ArrayList<>();
    private final List<Map<String, Object>> latencies = new ArrayList<>();
    private final List<Map<String, Object>> scopeLatencies = new ArrayList<>();
    private final Map<String, Object> figures = new TreeMap<>();

    public Builder task(Task task) {
      if (tasks.size() < MAX_TASKS) {
        tasks.add(task.toJson());
      }
      return this;
    }

    public Builder debt(Debt debt) {
      if (debts.size() < MAX_DEBTS) {
        debts.add(debt.toJson());
      }
      return this;
    }

    /** Adds an interval; of each class the last one comes last. */
    public Builder latency(Latency latency) {
      latencies.add(latency.toJson());
      return this;
    }

    /** Adds an interval of a part of the store; of each class and part the last one comes last. */
    public Builder scopeLatency(ScopeLatency latency) {
      scopeLatencies.add(latency.toJson());
      return this;
    }

    /** Adds a quantity of this store alone; its name ends in its unit. */
    public Builder figure(String name, double value) {
      if (figures.size() < MAX_FIGURES || figures.containsKey(name)) {
        figures.put(name, value);
      }
      return this;
    }

    Map<String, Object> build(List<Map<String, Object>> leases) {
      Map<String, Object> members = new LinkedHashMap<>();
      members.put("tasks", tasks);
      members.put("debts", debts);
      members.put("leases", leases);
      members.put("latencies", latencies);
      if (!scopeLatencies.isEmpty()) {
        members.put("scope_latencies", scopeLatencies);
      }
      members.put("figures", figures);
      return members;
    }
  }

  private Snapshot() {}
}
