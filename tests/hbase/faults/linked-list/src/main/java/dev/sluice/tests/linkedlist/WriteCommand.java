package dev.sluice.tests.linkedlist;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "write",
    header = "Write chains until standard input ends and there are enough rows.",
    description = {
      "After each batch 'acknowledged NUMBER' is printed, the rows that are there for good. When"
          + " all chains are closed, each is printed as a line for the ledger of verify, and the"
          + " exit code is 0. If a batch cannot be written, it is 1 and no chain is printed."
    })
final class WriteCommand implements Callable<Integer> {
  private final InputStream input = System.in;
  private final PrintStream output = System.out;

  private final AtomicLong acknowledged = new AtomicLong();
  private final CountDownLatch ended = new CountDownLatch(1);
  private final AtomicBoolean failed = new AtomicBoolean();

  @Mixin private TableOptions table;

  @Option(
      names = "--first-chain",
      required = true,
      description = "Number of the first chain; those that follow it must be new as well.")
  private int firstChain;

  @Option(
      names = "--chains",
      defaultValue = "4",
      description = "Chains, each written by a thread of its own (default: ${DEFAULT-VALUE}).")
  private int chains;

  @Option(
      names = "--width",
      defaultValue = "1000",
      description = "Rows that are written together (default: ${DEFAULT-VALUE}).")
  private int width;

  @Option(
      names = "--filler-bytes",
      defaultValue = "48",
      description = "Content of a row beside its reference (default: ${DEFAULT-VALUE}).")
  private int fillerBytes;

  @Option(
      names = "--at-least",
      defaultValue = "0",
      description = "Rows that all chains have together, at least (default: ${DEFAULT-VALUE}).")
  private long leastRows;

  @Option(
      names = "--rows-per-second",
      defaultValue = "0",
      description = "Of all chains together, while standard input lasts; 0: as many as they can.")
  private double rowsPerSecond;

  private long startNanos;

  @Override
  public Integer call() throws IOException, InterruptedException {
    Thread reader = new Thread(this::awaitEndOfInput, "input");
    reader.setDaemon(true);
    reader.start();
    try (ListTable rows = table.open()) {
      startNanos = System.nanoTime();
      List<Callable<Chain>> writers =
          IntStream.range(firstChain, firstChain + chains).mapToObj(n -> writer(rows, n)).toList();
      Workers.run(chains, writers).forEach(chain -> output.println(chain.line()));
    }
    return 0;
  }

  private Callable<Chain> writer(ListTable rows, int number) {
    ChainWriter writer =
        new ChainWriter(rows, number, width, fillerBytes, this::goesOn, this::acknowledge);
    return () -> {
      boolean closed = false;
      try {
        Chain chain = writer.call();
        closed = true;
        return chain;
      } finally {
        // The others need not go on.
        failed.compareAndSet(false, !closed);
      }
    };
  }

  private boolean goesOn() {
    awaitTurn();
    return !failed.get() && (ended.getCount() > 0 || acknowledged.get() < leastRows);
  }

  private void awaitTurn() {
    long elapsedNanos = System.nanoTime() - startNanos;
    long waitNanos = new Pace(rowsPerSecond).waitNanos(acknowledged.get(), elapsedNanos);
    try {
      // Once standard input has ended, nobody keeps the pace.
      ended.await(waitNanos, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      failed.set(true);
    }
  }

  private void acknowledge(int rows) {
    output.println("acknowledged " + acknowledged.addAndGet(rows));
  }

  private void awaitEndOfInput() {
    try {
      input.transferTo(OutputStream.nullOutputStream());
    } catch (IOException e) {
      System.err.println("standard input cannot be read, which ends the list: " + e);
    }
    ended.countDown();
  }
}
