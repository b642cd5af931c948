package dev.sluice.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintStream;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class IntervalTableTest {
  private static final long START = 1_700_000_000_000L;
  @TempDir private Path directory;

  @BeforeEach
  void writeLogs() throws Exception {
    try (PrintStream out = new PrintStream(Files.newOutputStream(directory.resolve("READ.hdr")))) {
      HistogramLogWriter log = new HistogramLogWriter(out);
      log.outputLogFormatVersion();
      log.outputStartTime(START + 400);
      log.setBaseTime(START + 400);
      log.outputLegend();
      // The first read came 400 ms after the start; ticks are a few milliseconds late.
      log.outputIntervalHistogram(interval(400, 1003, 10));
      log.outputIntervalHistogram(interval(1003, 2001));
      log.outputIntervalHistogram(interval(2001, 2998, 20, 30));
    }
    Files.copy(directory.resolve("READ.hdr"), directory.resolve("Intended-READ.hdr"));
  }

  private static Histogram interval(long start, long end, long... microseconds) {
    Histogram histogram = new Histogram(3);
    histogram.setStartTimeStamp(START + start);
    histogram.setEndTimeStamp(START + end);
    for (long value : microseconds) {
      histogram.recordValue(value);
    }
    return histogram;
  }

  private List<String> rows(int seconds) throws Exception {
    StringWriter out = new StringWriter();
    IntervalTable.write(directory, START, seconds, out);
    return out.toString().lines().toList();
  }

  @Test
  void rowsAreByKindThenTime() throws Exception {
    assertEquals(
        List.of(
            "interval,start_seconds,end_seconds,operation,latency,count,mean_microseconds,"
                + "p50_microseconds,p95_microseconds,p99_microseconds,p999_microseconds,"
                + "max_microseconds",
            "0,0.400,1.003,READ,intended,1,10.0,10,10,10,10,10",
            "1,1.003,2.001,READ,intended,0,,,,,,",
            "2,2.001,2.998,READ,intended,2,25.0,20,30,30,30,30",
            "0,0.400,1.003,READ,measured,1,10.0,10,10,10,10,10",
            "1,1.003,2.001,READ,measured,0,,,,,,",
            "2,2.001,2.998,READ,measured,2,25.0,20,30,30,30,30"),
        rows(1));
  }

  @Test
  void longerIntervalsAreSums() throws Exception {
    assertEquals("0,0.400,2.998,READ,measured,3,20.0,20,30,30,30,30", rows(10).get(2));
  }

  @Test
  void logThatIsCutAnywhereInAnEntryIsRefused() throws Exception {
    Path log = directory.resolve("READ.hdr");
    String whole = Files.readString(log);
    int last = whole.stripTrailing().lastIndexOf('\n') + 1;
    for (int length = last + 1; length < whole.stripTrailing().length(); length++) {
      Files.writeString(log, whole.substring(0, length));
      var damaged = assertThrows(Exception.class, () -> rows(1), "cut at " + length);
      assertTrue(damaged.getMessage().contains(log + " is damaged"), "cut at " + length);
    }
  }

  @Test
  void entriesAfterADamagedOneAreMissed() throws Exception {
    Path log = directory.resolve("READ.hdr");
    List<String> lines = new ArrayList<>(Files.readAllLines(log));
    int second = lines.size() - 2;
    lines.set(second, lines.get(second).substring(0, 12));
    Files.write(log, lines);
    assertThrows(IOException.class, () -> rows(1));
  }

  @Test
  void directoryWithoutLogsIsRefused(@TempDir Path empty) {
    assertThrows(
        SettingException.class, () -> IntervalTable.write(empty, START, 1, new StringWriter()));
  }
}
