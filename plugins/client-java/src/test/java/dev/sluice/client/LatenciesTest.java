package dev.sluice.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class LatenciesTest {
  private final Latencies latencies = new Latencies();

  private Series.Told only(
      Map<Latencies.Key, Series.Told> told, Operation operation, String scope) {
    assertEquals(List.of(new Latencies.Key(operation, scope)), List.copyOf(told.keySet()));
    return told.values().iterator().next();
  }

  @Test
  void whatIsTakenIsOfTheIntervalAlone() {
    latencies.of(Operation.READ, "t/f").succeeded(6_000_000);
    latencies.of(Operation.READ, "t/f").succeeded(2_000_000);
    latencies.of(Operation.READ, "t/f").failed();
    Series.Told told = only(latencies.take(), Operation.READ, "t/f");
    assertEquals(8_000_000, told.nanos());
    assertEquals(6_000_000, told.longestNanos());
    assertEquals(1, told.errors());
    assertEquals(1, told.counts()[Buckets.of(6_000)]);
    assertEquals(3, told.requests());
    assertTrue(latencies.take().isEmpty());
    latencies.of(Operation.READ, "t/f").succeeded(1_000_000);
    assertEquals(1_000_000, only(latencies.take(), Operation.READ, "t/f").longestNanos());
  }

  @Test
  void partsBeyondTheBoundAreNotToldApart() {
    int parts = 2 * Latencies.MOST_SERIES;
    for (int part = 0; part < parts; part++) {
      latencies.of(Operation.WRITE, "t" + part).succeeded(1);
    }
    Map<Latencies.Key, Series.Told> told = latencies.take();
    assertTrue(told.size() <= Latencies.MOST_SERIES);
    assertEquals(parts, told.values().stream().mapToLong(Series.Told::requests).sum());
  }

  @Test
  void whatNoReportMayHoldIsOfNoPart() {
    latencies.of(Operation.READ, "a\u0007").succeeded(1);
    latencies.of(Operation.READ, "x".repeat(1025)).succeeded(1);
    latencies.of(Operation.READ, "\ud800").succeeded(1);
    assertEquals(3, only(latencies.take(), Operation.READ, "").requests());
  }

  /**
   * Threads add while others take: each request is taken once, and no longest is below its bucket.
   */
  @Test
  void noRequestIsLostOrTakenTwice() throws Exception {
    int perThread = 200_000;
    AtomicLong adding = new AtomicLong(4);
    List<Thread> threads = new ArrayList<>();
    for (int thread = 0; thread < 4; thread++) {
      Thread adder =
          new Thread(
              () -> {
                for (int i = 0; i < perThread; i++) {
                  latencies.of(Operation.READ, "t").succeeded(i * 1000L);
                }
                adding.decrementAndGet();
              });
      threads.add(adder);
      adder.start();
    }
    long requests = 0;
    long nanos = 0;
    boolean isLast = false;
    while (!isLast) {
      Thread.yield();
      isLast = adding.get() == 0;
      for (Series.Told told : latencies.take().values()) {
        requests += told.requests();
        nanos += told.nanos();
        for (int bucket = 0; bucket < Buckets.COUNT; bucket++) {
          assertTrue(
              told.counts()[bucket] == 0 || told.longestNanos() >= Buckets.least(bucket) * 1000);
        }
      }
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(4L * perThread, requests);
    assertEquals(4L * 1000 * perThread * (perThread - 1L) / 2, nanos);
  }
}
