package dev.sluice.tests.linkedlist;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

@Command(
    name = "verify",
    header = "Compare the table with what was acknowledged.",
    description = {
      "The rows that are there, referenced, unreferenced, undefined (referred to and not there),"
          + " lost (acknowledged and not there), damaged, strange and repeated are printed as one"
          + " object of JSON. The exit code is 0 if all is as it was written, else 1."
    })
final class VerifyCommand implements Callable<Integer> {
  private static final int RANGES_PER_THREAD = 8;

  @Mixin private TableOptions table;

  @Option(
      names = "--ledger",
      required = true,
      paramLabel = "FILE",
      description = "The lines of all chains, as write has printed them.")
  private Path ledger;

  @Option(
      names = "--threads",
      defaultValue = "2",
      description = "Scans at a time (default: ${DEFAULT-VALUE}).")
  private int threads;

  @Override
  public Integer call() throws IOException, InterruptedException {
    Tally tally = new Tally(Ledger.parse(Files.readAllLines(ledger)));
    try (ListTable rows = table.open()) {
      Workers.run(
          threads,
          KeyRange.all(threads * RANGES_PER_THREAD).stream()
              .map(range -> scan(rows, range, tally))
              .toList());
    }
    Verdict verdict = tally.verdict();
    System.out.println(verdict.json());
    return verdict.isClean() ? 0 : 1;
  }

  private static Callable<KeyRange> scan(ListTable rows, KeyRange range, Tally tally) {
    return () -> {
      rows.scan(range, tally);
      return range;
    };
  }
}
