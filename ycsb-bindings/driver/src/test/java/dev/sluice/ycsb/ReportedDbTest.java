package dev.sluice.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.client.LatencyReporter;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import site.ycsb.DB;
import site.ycsb.Status;

class ReportedDbTest {
  @TempDir private Path directory;

  /** What an agent is told of a client's work, as one that takes it sees it. */
  @Test
  void operationsAreReportedFromWhenTheyWereDue() throws Exception {
    long due = System.nanoTime() - TimeUnit.SECONDS.toNanos(30);
    String told;
    try (TakesReports agent = new TakesReports(directory.resolve("agent.sock"))) {
      try (LatencyReporter reporter = LatencyReporter.start(agent.socket(), "memory")) {
        DB store =
            new ReportedDb(
                new MemoryBinding("memory").newDb(), reporter, () -> due, table -> "k." + table);
        assertEquals(Status.OK, store.insert("t", "a", Map.of()));
        assertEquals(Status.OK, store.read("t", "a", null, null));
        assertEquals(Status.NOT_FOUND, store.read("t", "b", null, null));
        assertEquals(Status.ERROR, store.insert("t", "a", Map.of()));
      }
      told = agent.told();
    }
    assertTrue(told.contains("\"store\":\"memory\""), told);
    assertTrue(
        told.contains("\"class\":\"read\",\"scope\":\"k.t\",\"errors\":0,\"sum_seconds\":60."),
        told);
    assertTrue(
        told.contains("\"class\":\"write\",\"scope\":\"k.t\",\"errors\":1,\"sum_seconds\":30."),
        told);
  }

  /** YCSB's wrapper around the client looks for its options there. */
  @Test
  void propertiesAreThoseOfTheClient() throws Exception {
    Properties properties = new Properties();
    try (TakesReports agent = new TakesReports(directory.resolve("agent.sock"));
        LatencyReporter reporter = LatencyReporter.start(agent.socket(), "memory")) {
      DB client = new MemoryBinding("memory").newDb();
      DB store = new ReportedDb(client, reporter, () -> 0, table -> table);
      client.setProperties(properties);
      assertSame(properties, store.getProperties());
      store.setProperties(new Properties());
      assertSame(store.getProperties(), client.getProperties());
    }
  }

  @Test
  void withoutASocketNothingIsReported() {
    Properties properties = new Properties();
    assertEquals(null, WorkloadProperties.reporter(properties, "memory"));
    properties.setProperty(WorkloadProperties.CLIENTS_SOCKET, " ");
    assertEquals(null, WorkloadProperties.reporter(properties, "memory"));
  }
}
