package dev.sluice.tests.linkedlist;

import java.io.IOException;
import java.util.List;

/** Where rows go. */
@FunctionalInterface
interface RowSink {
  /** Writes rows, and returns when the store has acknowledged them all. */
  void write(List<LinkedRow> rows) throws IOException, InterruptedException;
}
