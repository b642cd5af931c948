package dev.sluice.ycsb;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Cuts the histogram logs of a finished run again. */
@Command(
    name = "intervals",
    header = "Print the latencies of a finished run per interval, as CSV.",
    description = {
      "",
      "The histograms of an interval are added up, so the percentiles are exact at any length.",
      ""
    })
final class IntervalsCommand implements Callable<Integer> {
  @Parameters(paramLabel = "DIR", description = "the --results directory of the run")
  private Path results;

  @Option(
      names = "--seconds",
      paramLabel = "N",
      description = "length of an interval in seconds; default ${DEFAULT-VALUE}")
  private int seconds = 10;

  @Override
  public Integer call() throws Exception {
    if (seconds < 1) {
      throw new SettingException("--seconds must be 1 or more");
    }
    long start = ResultsDirectory.startMillis(results);
    PrintWriter out = new PrintWriter(System.out, false, StandardCharsets.UTF_8);
    IntervalTable.write(results, start, seconds, out);
    out.flush();
    return 0;
  }
}
