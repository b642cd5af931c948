package dev.sluice.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
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
    MemoryBinding binding = new MemoryBinding("memory");
    load(binding.newDb());
    Path results = directory.resolve("results");
    Properties properties = properties();
    ResultsDirectory files = ResultsDirectory.create(results);
    files.configure(properties);
    WorkloadProperties.check(Phase.RUN, properties);
    RunOutcome outcome = new WorkloadRun(binding, Phase.RUN, properties, null).execute();
    files.write(List.of(new MemoryBinding("other"), binding), properties, outcome);

    assertEquals(0, outcome.measurements().failures());
    long done =
        ScheduleCheck.assertFollows(SCHEDULE, Files.readAllLines(results.resolve("intervals.csv")));
    // Two cycles of 900 operations; a busy machine may leave the last ones, and may not add any.
    assertTrue(done > 900 && done <= 1801, done + " done in all");
    String json = Files.readString(results.resolve("measurements.json"));
    assertTrue(json.contains("\"Intended-READ\""), json);
    String written = Files.readString(results.resolve("run.properties"));
    assertFalse(written.contains("secret"), written);
    Properties run = ResultsDirectory.finishedRun(results);
    assertEquals(
        Long.toString(outcome.startMillis()), run.getProperty(ResultsDirectory.START_MILLISECONDS));
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
    properties.setProperty("other.password", "secret too");
    return properties;
  }
}
