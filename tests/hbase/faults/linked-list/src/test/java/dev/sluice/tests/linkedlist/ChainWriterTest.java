package dev.sluice.tests.linkedlist;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;

class ChainWriterTest {
  private static final int WIDTH = 10;
  private final StoredRows stored = new StoredRows();
  private final AtomicInteger acknowledged = new AtomicInteger();

  @Test
  void isClosedWhenItIsTold() throws Exception {
    Chain chain = writer(stored, times(3)).call();
    assertEquals(new Chain(5, 40, WIDTH, 16), chain);
    assertEquals(40, acknowledged.get());
    assertEquals(new Verdict(40, 40, 0, 0, 0, 0, 0, 0), stored.verdict(new Ledger(List.of(chain))));
  }

  @Test
  void hasOneBatchAtLeast() throws Exception {
    Chain chain = writer(stored, () -> false).call();
    assertEquals(WIDTH, chain.rows());
    assertTrue(stored.verdict(new Ledger(List.of(chain))).isClean());
  }

  @Test
  void refersOnlyToWhatWasAcknowledgedBefore() throws Exception {
    StoredRows before = new StoredRows();
    RowSink checking =
        rows -> {
          for (LinkedRow row : rows) {
            row.previous().ifPresent(previous -> assertTrue(before.has(previous), row.toString()));
          }
          before.write(rows);
        };
    writer(checking, times(4)).call();
    assertEquals(6, before.writes.size());
  }

  @Test
  void endsWhenABatchCannotBeWritten() {
    RowSink failing =
        rows -> {
          if (stored.writes.size() == 2) {
            throw new IOException("no region server");
          }
          stored.write(rows);
        };
    assertThrows(IOException.class, () -> writer(failing, () -> true).call());
    assertEquals(2 * WIDTH, acknowledged.get());
  }

  private ChainWriter writer(RowSink sink, BooleanSupplier goesOn) {
    return new ChainWriter(sink, 5, WIDTH, 16, goesOn, acknowledged::addAndGet);
  }

  private static BooleanSupplier times(int times) {
    AtomicInteger left = new AtomicInteger(times);
    return () -> left.getAndDecrement() > 0;
  }
}
