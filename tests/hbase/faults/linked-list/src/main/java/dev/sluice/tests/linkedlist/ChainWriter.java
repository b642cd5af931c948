package dev.sluice.tests.linkedlist;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * Writes one chain. A row is referred to only after it was acknowledged: one that is referred to
 * and not there has been lost.
 *
 * @param goesOn asked after each batch; the chain is closed when it says no
 * @param acknowledged told how many more rows are there for good
 */
record ChainWriter(
    RowSink sink,
    int number,
    int width,
    int fillerBytes,
    BooleanSupplier goesOn,
    IntConsumer acknowledged)
    implements Callable<Chain> {
  @Override
  public Chain call() throws IOException, InterruptedException {
    int rows = 0;
    do {
      int batch = rows;
      write(batch, index -> batch == 0 ? null : new Node(number, index - width));
      rows += width;
      acknowledged.accept(width);
    } while (goesOn.getAsBoolean() && rows <= Integer.MAX_VALUE - width);
    Chain chain = new Chain(number, rows, width, fillerBytes);
    write(0, chain::previousOf);
    return chain;
  }

  private void write(int from, IntFunction<Node> previousOf)
      throws IOException, InterruptedException {
    sink.write(
        IntStream.range(from, from + width)
            .mapToObj(index -> row(index, previousOf.apply(index)))
            .toList());
  }

  private LinkedRow row(int index, Node previous) {
    return new LinkedRow(new Node(number, index), Optional.ofNullable(previous), fillerBytes);
  }
}
