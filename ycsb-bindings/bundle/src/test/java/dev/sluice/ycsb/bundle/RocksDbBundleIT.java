package dev.sluice.ycsb.bundle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.ycsb.bundle.Bundle.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The archive with RocksDB inside its process, by its command line. */
class RocksDbBundleIT {
  @TempDir private static Path directory;
  private static Bundle bundle;

  @BeforeAll
  static void unpack() throws Exception {
    bundle = Bundle.unpack(directory);
  }

  @Test
  void whatIsLoadedIsThereForTheRuns() throws Exception {
    assertDone(workload("prepare", "drop-table", "create-table"));
    assertDone(workload("load", "-p", "rocksdb.batchsize=50", "-P", "a.properties"));
    assertDone(workload("prepare", "flush", "settle"));
    for (String letter : List.of("a", "e")) {
      Path results = directory.resolve(letter);
      Result run = workload("run", "-P", letter + ".properties", "--results", results.toString());
      assertDone(run);
      assertTrue(run.out().contains("[OVERALL], FailedOperations, 0\n"), run.out());
    }
    assertTrue(Files.size(directory.resolve("e/SCAN.hdr")) > 0);
  }

  @Test
  void databaseThatIsNotThereSaysWhatToDo() throws Exception {
    Result result = workload("prepare", "flush", "-p", "rocksdb.directory=" + directory + "/none");
    assertEquals(1, result.exitCode());
    assertTrue(result.err().contains("create-table"), result.err());
  }

  private static void assertDone(Result result) {
    assertEquals(0, result.exitCode(), result.out() + result.err());
  }

  /** A command with sizes for seconds; options of a phase, or steps of a preparation. */
  private static Result workload(String command, String... more) throws IOException {
    List<String> arguments = new ArrayList<>(List.of(command, "rocksdb"));
    arguments.addAll(List.of("-p", "rocksdb.directory=" + directory.resolve("database")));
    arguments.addAll(List.of(more));
    arguments.addAll(List.of("-P", "profiles/smoke.properties"));
    arguments.addAll(List.of("-p", "recordcount=1000", "-p", "operationcount=1000"));
    if (!command.equals("prepare")) {
      arguments.addAll(List.of("-p", "maxexecutiontime=600", "--threads", "4"));
    }
    return bundle.ycsb(arguments.toArray(String[]::new));
  }
}
