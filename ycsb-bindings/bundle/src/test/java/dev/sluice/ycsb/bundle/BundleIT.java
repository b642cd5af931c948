package dev.sluice.ycsb.bundle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.ycsb.ScheduleCheck;
import dev.sluice.ycsb.bundle.Bundle.Result;
import dev.sluice.ycsb.postgres.PostgresServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The archive against a real server, by its command line. */
class BundleIT {
  private static final String SCHEDULE = "2s:50,1s:300";
  private static final int SECONDS = 6;

  @TempDir private static Path directory;
  private static PostgresServer server;
  private static Bundle bundle;
  private static Path settings;

  @BeforeAll
  static void start() throws Exception {
    server = PostgresServer.start();
    bundle = Bundle.unpack(directory);
    settings = directory.resolve("my.properties");
    try (var out = Files.newBufferedWriter(settings)) {
      server.settings().store(out, null);
    }
  }

  @AfterAll
  static void stop() throws Exception {
    server.close();
  }

  @BeforeEach
  void startEmpty() throws Exception {
    assertDone(prepare("drop-table", "create-table"));
  }

  @Test
  void archiveHasFixedTimesAndOwners() throws Exception {
    Result list =
        bundle.execute("tar", "--utc", "--numeric-owner", "-tvzf", Bundle.ARCHIVE.toString());
    list.out()
        .lines()
        .forEach(line -> assertTrue(line.contains(" 0/0 ") && line.contains(" 2026-01-01"), line));
  }

  @Test
  void helpTeaches() throws Exception {
    Result help = bundle.ycsb("--help");
    assertDone(help);
    for (String word : List.of("prepare", "load", "run", "intervals", "stores", "Exit codes")) {
      assertTrue(help.out().contains(word), help.out());
    }
    assertTrue(bundle.ycsb("run", "--help").out().contains("--schedule 60s:250,10s:1500"));
    String stores = bundle.ycsb("stores").out();
    assertTrue(stores.contains("postgres.url") && stores.contains("vacuum-analyze"), stores);
    assertEquals("sluice-ycsb 0.1.0\n", bundle.ycsb("--version").out());
  }

  @Test
  void loadAndRunLeaveWhatWasMeasured() throws Exception {
    assertDone(workload("load", "-P", "a.properties"));
    assertEquals("1000", server.query("SELECT count(*) FROM usertable"));
    assertDone(prepare("vacuum-analyze"));
    Path results = directory.resolve("plain");
    Result run = workload("run", "-P", "a.properties", "--results", results.toString());
    assertDone(run);
    assertEquals(2000, measured(run.out(), "OVERALL", "Operations"));
    assertEquals(0, measured(run.out(), "OVERALL", "FailedOperations"));

    long operations = measured(run.out(), "READ", "Operations");
    operations += measured(run.out(), "UPDATE", "Operations");
    assertEquals(2000, operations);
    for (String log : List.of("READ", "UPDATE", "Intended-READ", "Intended-UPDATE")) {
      assertTrue(Files.size(results.resolve(log + ".hdr")) > 0);
    }
    assertFalse(Files.readString(results.resolve("run.properties")).contains("se:cret"));
    assertEquals(2000, sum(intervals(results, 1)));
    assertEquals(2000, sum(intervals(results, 10)));
  }

  @Test
  void insertsAndReadModifyWritesRun() throws Exception {
    for (String letter : List.of("d", "f")) {
      assertDone(prepare("drop-table", "create-table"));
      assertDone(workload("load", "-P", letter + ".properties"));
      Result run = workload("run", "-P", letter + ".properties", "-o", "json");
      assertDone(run);
      assertTrue(run.out().contains("\"FailedOperations\",\n  \"value\" : 0"), run.out());
    }
  }

  @Test
  void runOnTheServerFollowsItsSchedule() throws Exception {
    assertDone(workload("load", "-P", "a.properties"));
    Path results = directory.resolve("scheduled");
    Result run =
        workload(
            "run",
            "-P",
            "a.properties",
            "-s",
            "--schedule",
            SCHEDULE,
            "-p",
            "operationcount=100000",
            "-p",
            "maxexecutiontime=" + SECONDS,
            "--results",
            results.toString());
    assertDone(run);

    long done =
        ScheduleCheck.assertFollows(SCHEDULE, Files.readAllLines(results.resolve("intervals.csv")));
    long unissued = measured(run.out(), "OVERALL", "UnissuedOperations");
    // Two cycles of 400 operations.
    assertEquals(801, done + unissued, 1);
  }

  @Test
  void failedOperationsGiveTheirOwnExitCode() throws Exception {
    Result run = workload("run", "-P", "c.properties");
    assertEquals(3, run.exitCode(), run.err());
    assertEquals(2000, measured(run.out(), "READ", "Return=NOT_FOUND"));
    assertTrue(run.err().contains("2000 operations failed"), run.err());
  }

  @Test
  void loadOverAnOldOneFails() throws Exception {
    assertDone(workload("load", "-P", "a.properties"));
    Result again = workload("load", "-P", "a.properties");
    assertEquals(1, again.exitCode());
    assertTrue(again.err().contains("23505"), again.err());
  }

  @Test
  void wrongInputSaysWhatToDo() throws Exception {
    assertFails(
        "no store 'mysql'; use cassandra or hbase or ignite or postgres or rocksdb",
        "load",
        "mysql",
        "-P",
        "a.properties");
    assertFails("use one of", "prepare", "postgres", "polish");
    assertFails("postgres.url is not set", "prepare", "postgres", "create-table");
    assertFails(
        "no file g.properties; the bundle has a-single-field.properties, a.properties",
        "load",
        "postgres",
        "-P",
        "g.properties");
    assertFails(
        "no setting 'postgres.uri'; use one of [postgres.url",
        "prepare",
        "postgres",
        "drop-table",
        "-p",
        "postgres.uri=x");
    assertFails("profiles/smoke.properties", "run", "postgres", "-P", "a.properties");
    assertFails("is no YCSB workload", "run", "postgres", "-P", "profiles/smoke.properties");
    assertFails(
        "cannot connect to jdbc:postgresql://127.0.0.1:1/x as y",
        "prepare",
        "postgres",
        "drop-table",
        "-p",
        "postgres.url=jdbc:postgresql://127.0.0.1:1/x",
        "-p",
        "postgres.user=y");
    Files.writeString(Files.createDirectory(directory.resolve("full")).resolve("file"), "");
    Result full = workload("run", "-P", "a.properties", "--results", "full");
    assertTrue(full.err().contains("full is not empty"), full.err());
    assertEquals(2, bundle.ycsb("run").exitCode());
  }

  private static void assertDone(Result result) {
    assertEquals(0, result.exitCode(), result.out() + result.err());
  }

  private static void assertFails(String message, String... arguments) throws IOException {
    Result result = bundle.ycsb(arguments);
    assertEquals(1, result.exitCode(), result.err());
    assertTrue(result.err().contains(message), result.err());
  }

  private static Result prepare(String... steps) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("prepare", "postgres"));
    arguments.addAll(List.of(steps));
    arguments.addAll(List.of("-P", settings.toString()));
    return bundle.ycsb(arguments.toArray(String[]::new));
  }

  /** A small load or run with 4 threads. */
  private static Result workload(String phase, String... more) throws IOException {
    List<String> arguments = new ArrayList<>(List.of(phase, "postgres"));
    arguments.addAll(List.of("-P", "profiles/smoke.properties", "-P", settings.toString()));
    arguments.addAll(List.of("-p", "recordcount=1000", "-p", "operationcount=2000"));
    arguments.addAll(List.of("-p", "maxexecutiontime=600", "--threads", "4"));
    arguments.addAll(List.of(more));
    return bundle.ycsb(arguments.toArray(String[]::new));
  }

  private static long measured(String text, String metric, String measurement) {
    Matcher matcher =
        Pattern.compile(Pattern.quote("[" + metric + "], " + measurement + ", ") + "(\\d+)")
            .matcher(text);
    return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
  }

  /** Operations by interval. */
  private static Map<Integer, Long> intervals(Path results, int seconds) throws IOException {
    Result csv = bundle.ycsb("intervals", results.toString(), "--seconds", "" + seconds);
    assertDone(csv);
    Map<Integer, Long> counts = new TreeMap<>();
    for (String row : csv.out().lines().skip(1).toList()) {
      String[] cells = row.split(",", -1);
      if (cells[4].equals("measured")) {
        counts.merge(Integer.valueOf(cells[0]), Long.valueOf(cells[5]), Long::sum);
      }
    }
    return counts;
  }

  private static long sum(Map<Integer, Long> counts) {
    return counts.values().stream().mapToLong(Long::longValue).sum();
  }
}
