package dev.sluice.ycsb;

import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogReader;

/** Cuts the histogram logs of a run into intervals of equal length and writes them as CSV. */
final class IntervalTable {
  private static final String INTENDED = "Intended-";
  private static final String SUFFIX = ".hdr";
  private static final String HEADER =
      "interval,start_seconds,end_seconds,operation,latency,count,mean_microseconds,"
          + "p50_microseconds,p95_microseconds,p99_microseconds,p999_microseconds,"
          + "max_microseconds\n";
  private static final double[] PERCENTILES = {50, 95, 99, 99.9, 100};

  private IntervalTable() {}

  /**
   * Writes one row per interval, operation and kind of latency, in the order of operation, kind and
   * time. Intervals that are empty have a count of 0 and no other figures.
   *
   * @param logs directory of the {@code .hdr} files
   * @param startMillis start of the run, milliseconds since 1970
   * @param intervalSeconds length of an interval; logs are not finer than they were written
   * @throws SettingException when there are no logs
   */
  static void write(Path logs, long startMillis, int intervalSeconds, Writer out)
      throws IOException {
    List<Path> files = logFiles(logs);
    if (files.isEmpty()) {
      throw new SettingException("no .hdr files in " + logs + "; name the --results of a run");
    }
    out.write(HEADER);
    for (Path file : files) {
      String name = file.getFileName().toString();
      String metric = name.substring(0, name.length() - SUFFIX.length());
      boolean intended = metric.startsWith(INTENDED);
      String operation = intended ? metric.substring(INTENDED.length()) : metric;
      String prefix = operation + "," + (intended ? "intended" : "measured");
      for (var entry : intervals(file, startMillis, intervalSeconds).entrySet()) {
        out.write(row(entry.getKey(), startMillis, prefix, entry.getValue()));
      }
    }
  }

  private static List<Path> logFiles(Path logs) throws IOException {
    try (Stream<Path> files = Files.list(logs)) {
      return files.filter(file -> file.toString().endsWith(SUFFIX)).sorted().toList();
    }
  }

  private static SortedMap<Long, Histogram> intervals(Path file, long startMillis, int seconds)
      throws IOException {
    SortedMap<Long, Histogram> intervals = new TreeMap<>();
    int entries = 0;
    try (HistogramLogReader reader = new HistogramLogReader(file.toFile())) {
      Histogram histogram;
      while ((histogram = next(reader, file)) != null) {
        // The middle, because the ends are a few milliseconds off the second.
        long middle = (histogram.getStartTimeStamp() + histogram.getEndTimeStamp()) / 2;
        long interval = Math.floorDiv(middle - startMillis, seconds * 1000L);
        intervals.merge(interval, histogram, IntervalTable::sum);
        entries++;
      }
    }
    checkWhole(file, entries);
    return intervals;
  }

  /** Null at the end, and at most lines that are no entry. */
  private static Histogram next(HistogramLogReader reader, Path file) throws IOException {
    try {
      return (Histogram) reader.nextIntervalHistogram();
    } catch (RuntimeException e) {
      throw new IOException(file + " is damaged: " + e, e);
    }
  }

  /** The reader takes a line that it cannot read, as a full disk leaves it, for the end. */
  private static void checkWhole(Path file, int entries) throws IOException {
    try (Stream<String> lines = Files.lines(file)) {
      long written = lines.filter(IntervalTable::isEntry).count();
      if (written != entries) {
        throw new IOException(
            file + " is damaged: of its " + written + " intervals " + entries + " can be read");
      }
    }
  }

  /** Comments begin with #, the line of column names with a quotation mark. */
  private static boolean isEntry(String line) {
    return !line.isBlank() && !line.startsWith("#") && !line.startsWith("\"");
  }

  private static Histogram sum(Histogram first, Histogram second) {
    first.add(second);
    return first;
  }

  private static String row(long interval, long startMillis, String prefix, Histogram histogram) {
    StringBuilder row = new StringBuilder();
    row.append(interval).append(',');
    row.append(seconds(histogram.getStartTimeStamp() - startMillis)).append(',');
    row.append(seconds(histogram.getEndTimeStamp() - startMillis)).append(',');
    row.append(prefix).append(',').append(histogram.getTotalCount());
    if (histogram.getTotalCount() == 0) {
      return row.append(",,,,,,\n").toString();
    }
    row.append(',').append(String.format(Locale.ROOT, "%.1f", histogram.getMean()));
    for (double percentile : PERCENTILES) {
      row.append(',').append(histogram.getValueAtPercentile(percentile));
    }
    return row.append('\n').toString();
  }

  private static String seconds(long millis) {
    return String.format(Locale.ROOT, "%.3f", millis / 1000.0);
  }
}
