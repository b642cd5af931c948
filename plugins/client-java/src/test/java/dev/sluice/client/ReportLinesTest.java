package dev.sluice.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class ReportLinesTest {
  private static final int MOST_LINE_BYTES = 1 << 20;

  private final Latencies latencies = new Latencies();
  private final ReportLines lines = new ReportLines("hbase");

  @Test
  void aReportIsThatOfTheProtocol() {
    latencies.of(Operation.READ, "a\"b\\c/f").succeeded(6_000_000);
    latencies.of(Operation.READ, "a\"b\\c/f").succeeded(40);
    latencies.of(Operation.WRITE, "t").failed();
    assertEquals(
        List.of(
            new ReportLines.Line(
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"report\",\"params\":{\"protocol_version\":{\"major\":1,\"minor\":0},\"store\":\"hbase\",\"interval_seconds\":1.25,\"lost_requests\":7,\"requests\":[{\"class\":\"read\",\"scope\":\"a\\\"b\\\\c/f\",\"errors\":0,\"sum_seconds\":0.00600004,\"max_seconds\":0.006,\"buckets\":[[0,1],[270,1]]},{\"class\":\"write\",\"scope\":\"t\",\"errors\":1,\"sum_seconds\":0.0,\"max_seconds\":0.0,\"buckets\":[]}]}}\n",
                3,
                7)),
        lines.of(1.25, 7, latencies.take()));
  }

  @Test
  void aClientWithoutRequestsSaysThatItIsThere() {
    List<ReportLines.Line> told = lines.of(1, 0, latencies.take());
    assertEquals(1, told.size());
    assertTrue(told.get(0).text().endsWith("\"requests\":[]}}\n"));
  }

  /** All buckets of as many parts as a report has, with names as long as they may be, fit in. */
  @Test
  void whatIsMoreThanAReportHoldsIsInSeveral() {
    for (int part = 0; part < 100; part++) {
      Series series = latencies.of(Operation.READ, part + "\\".repeat(330));
      for (int bucket = 0; bucket < Buckets.COUNT; bucket++) {
        for (int request = 0; request < 11; request++) {
          series.succeeded(Buckets.least(bucket) * 1000);
        }
      }
    }
    List<ReportLines.Line> told = lines.of(1, 5, latencies.take());
    assertEquals(2, told.size());
    assertEquals(
        100L * Buckets.COUNT * 11, told.stream().mapToLong(ReportLines.Line::requests).sum());
    assertEquals(5, told.stream().mapToLong(ReportLines.Line::lost).sum());
    for (ReportLines.Line line : told) {
      assertTrue(line.text().length() <= MOST_LINE_BYTES);
    }
  }
}
