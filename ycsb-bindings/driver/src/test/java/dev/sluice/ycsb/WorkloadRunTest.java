package dev.sluice.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import site.ycsb.DB;
import site.ycsb.Status;
import site.ycsb.Utils;

/** One run, because YCSB's measurements are one object per process. */
class WorkloadRunTest {
  private static final String SCHEDULE = "2s:100,1s:700";
  private static final int RECORDS = 50;
  private static final int SECONDS = 6;

  @TempDir private Path directory;

  @Test
  void runFollowsItsScheduleAndLeavesItsResults() throws Exception {
    MemoryBinding binding = new MemoryBinding();
    load(binding.newDb());
    Path results = directory.resolve("results");
    Properties properties = properties();
    ResultsDirectory files = ResultsDirectory.create(results);
    files.configure(properties);
    WorkloadProperties.check(Phase.RUN, properties);
    RunOutcome outcome = new WorkloadRun(binding, Phase.RUN, properties, null).execute();
    files.write(binding, properties, outcome);

    assertEquals(0, outcome.measurements().failures());
    assertFollowsSchedule(Files.readAllLines(results.resolve("intervals.csv")));
    String json = Files.readString(results.resolve("measurements.json"));
    assertTrue(json.contains("\"Intended-READ\""), json);
    String written = Files.readString(results.resolve("run.properties"));
    assertFalse(written.contains("secret"), written);
    assertEquals(outcome.startMillis(), ResultsDirectory.startMillis(results));
  }

  private static void load(DB store) {
    for (int i = 0; i < RECORDS; i++) {
      String key = "user" + Utils.hash(i);
      assertEquals(Status.OK, store.insert("usertable", key, Map.of()));
    }
  }

  private static Properties properties() {
    Properties properties = new Properties();
    properties.putAll(
        Map.of(
            "workload", "site.ycsb.workloads.CoreWorkload",
            "readproportion", "1",
            "updateproportion", "0",
            "recordcount", Integer.toString(RECORDS),
            "operationcount", "0",
            "maxexecutiontime", Integer.toString(SECONDS),
            "threadcount", "4",
            "target", "0",
            "measurement.interval", "both"));
    properties.setProperty(WorkloadProperties.INTERVAL_SECONDS, "1");
    properties.setProperty(WorkloadProperties.TARGET_SCHEDULE, SCHEDULE);
    properties.setProperty("memory.password", "secret");
    return properties;
  }

  /** At each second, what was done is what was due within a second of then. */
  private static void assertFollowsSchedule(List<String> csv) {
    TargetSchedule schedule = TargetSchedule.parse(SCHEDULE);
    TreeMap<Integer, Long> counts = new TreeMap<>();
    for (String row : csv) {
      String[] cells = row.split(",", -1);
      if (cells[3].equals("READ") && cells[4].equals("measured")) {
        counts.merge(Integer.valueOf(cells[0]), Long.valueOf(cells[5]), Long::sum);
      }
    }
    long done = 0;
    for (int second = 0; second < SECONDS; second++) {
      done += counts.getOrDefault(second, 0L);
      long earliest = second == 0 ? 0 : schedule.operationsDue(second * 1_000_000_000L);
      long latest = schedule.operationsDue((second + 2) * 1_000_000_000L);
      assertTrue(done >= earliest && done <= latest, done + " done after second " + second);
    }
    // Two cycles of 900 operations.
    assertTrue(done > 1500 && done <= 1801, done + " done in all");
  }
}
