package dev.sluice.client;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Writes what was measured as requests of the protocol, each on a line. */
final class ReportLines {
  /** As many entries as a report may have, so that even full ones fit into a line of 1 MiB. */
  static final int MOST_ENTRIES = 64;

  private static final double NANOS_PER_SECOND = 1e9;
  private static final double LEAST_SECONDS = 0.001;
  private static final double MOST_SECONDS = 600;
  private static final long MOST_IN_A_BUCKET = 1_000_000_000;

  private final String store;

  ReportLines(String store) {
    this.store = store;
  }

  /** A line, how many requests it tells, and how many it tells to be lost. */
  record Line(String text, long requests, long lost) {}

  /** The reports of an interval, one at least: it says that the client is there. */
  List<Line> of(double seconds, long lost, Map<Latencies.Key, Series.Told> told) {
    List<Line> lines = new ArrayList<>();
    List<Map.Entry<Latencies.Key, Series.Told>> entries = List.copyOf(told.entrySet());
    int begin = 0;
    do {
      int end = Math.min(entries.size(), begin + MOST_ENTRIES);
      lines.add(line(seconds, begin == 0 ? lost : 0, entries.subList(begin, end)));
      begin = end;
    } while (begin < entries.size());
    return lines;
  }

  private Line line(
      double seconds, long lost, List<Map.Entry<Latencies.Key, Series.Told>> entries) {
    StringBuilder text = new StringBuilder(256);
    text.append("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"report\",\"params\":{");
    text.append("\"protocol_version\":{\"major\":1,\"minor\":0},\"store\":").append(quoted(store));
    text.append(",\"interval_seconds\":");
    text.append(Math.min(MOST_SECONDS, Math.max(LEAST_SECONDS, seconds)));
    text.append(",\"lost_requests\":").append(lost).append(",\"requests\":[");
    long requests = 0;
    for (int i = 0; i < entries.size(); i++) {
      text.append(i == 0 ? "" : ",");
      append(text, entries.get(i).getKey(), entries.get(i).getValue());
      requests += entries.get(i).getValue().requests();
    }
    return new Line(text.append("]}}\n").toString(), requests, lost);
  }

  private static void append(StringBuilder text, Latencies.Key key, Series.Told told) {
    text.append("{\"class\":\"").append(key.operation().word());
    text.append("\",\"scope\":").append(quoted(key.scope()));
    text.append(",\"errors\":").append(Math.min(MOST_IN_A_BUCKET, told.errors()));
    text.append(",\"sum_seconds\":").append(told.nanos() / NANOS_PER_SECOND);
    text.append(",\"max_seconds\":").append(told.longestNanos() / NANOS_PER_SECOND);
    text.append(",\"buckets\":[");
    String separator = "";
    for (int bucket = 0; bucket < told.counts().length; bucket++) {
      long count = Math.min(MOST_IN_A_BUCKET, told.counts()[bucket]);
      if (count > 0) {
        text.append(separator).append('[').append(bucket).append(',').append(count).append(']');
        separator = ",";
      }
    }
    text.append("]}");
  }

  /** A text without control characters. */
  private static String quoted(String text) {
    return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }
}
