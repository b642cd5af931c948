package dev.sluice.ycsb;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Properties;
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
      "The histograms of an interval are added up, so the percentiles are exact at any length"
          + " that is a multiple of the run's status.interval.",
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
    Properties run = ResultsDirectory.finishedRun(results);
    checkMultiple(run);
    long start = Long.parseLong(run.getProperty(ResultsDirectory.START_MILLISECONDS));
    PrintWriter out = new PrintWriter(System.out, false, StandardCharsets.UTF_8);
    IntervalTable.write(results, start, seconds, out);
    // Neither of the two streams throws, on a full disk for example.
    if (out.checkError()) {
      throw new IOException("the table could not be written to the standard output");
    }
    return 0;
  }

  /** An interval of the logs cannot be divided between two. */
  private void checkMultiple(Properties run) {
    String logged = run.getProperty(WorkloadProperties.INTERVAL_SECONDS);
    if (seconds % Integer.parseInt(logged) != 0) {
      throw new SettingException(
          "--seconds "
              + seconds
              + " is no multiple of "
              + WorkloadProperties.INTERVAL_SECONDS
              + "="
              + logged
              + ", the intervals of the run's logs");
    }
  }
}
