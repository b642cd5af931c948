package dev.sluice.ycsb.bundle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.ycsb.bundle.Bundle.Result;
import dev.sluice.ycsb.cassandra.CassandraServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The archive against a real Cassandra, by its command line, with the jars of all other bindings.
 */
@Tag(CassandraServer.TAG)
class CassandraBundleIT {
  @TempDir private static Path directory;
  private static CassandraServer server;
  private static Bundle bundle;
  private static Path settings;

  @BeforeAll
  static void start() throws Exception {
    server = CassandraServer.start();
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

  @Test
  void loadAndRunLeaveWhatWasMeasuredAndNothingElse() throws Exception {
    assertDone(workload("prepare", "drop-table", "create-table"));
    assertDone(workload("load", "-P", "a.properties"));
    for (String letter : List.of("a", "e")) {
      Path results = directory.resolve(letter);
      Result run = workload("run", "-P", letter + ".properties", "--results", results.toString());
      assertDone(run);
      assertTrue(run.out().contains("[OVERALL], FailedOperations, 0\n"), run.out());
      // The client's own log would be here, beside the line that YCSB writes for each thread.
      assertEquals(
          List.of(), run.err().lines().filter(line -> !line.startsWith("DBWrapper: ")).toList());
    }
    assertTrue(Files.size(directory.resolve("e/SCAN.hdr")) > 0);
  }

  @Test
  void unreachableClusterSaysWhatToDo() throws Exception {
    Result result = workload("prepare", "create-table", "-p", "cassandra.addresses=127.0.0.1:1");
    assertEquals(1, result.exitCode());
    assertTrue(result.err().contains("check that the nodes run"), result.err());
  }

  private static void assertDone(Result result) {
    assertEquals(0, result.exitCode(), result.out() + result.err());
  }

  /** A command with sizes for seconds; options of a phase, or steps of a preparation. */
  private static Result workload(String command, String... more) throws Exception {
    List<String> arguments = new ArrayList<>(List.of(command, "cassandra"));
    arguments.addAll(List.of(more));
    arguments.addAll(List.of("-P", "profiles/smoke.properties", "-P", settings.toString()));
    arguments.addAll(List.of("-p", "recordcount=1000", "-p", "operationcount=1000"));
    if (!command.equals("prepare")) {
      arguments.addAll(List.of("-p", "maxexecutiontime=600", "--threads", "4"));
    }
    return bundle.ycsb(arguments.toArray(String[]::new));
  }
}
