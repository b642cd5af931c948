package dev.sluice.ycsb;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Callable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import site.ycsb.Client;
import site.ycsb.measurements.exporter.JSONArrayMeasurementsExporter;
import site.ycsb.measurements.exporter.TextMeasurementsExporter;

/** What load and run have in common on the command line. */
abstract class WorkloadCommand implements Callable<Integer> {
  private static final Map<String, String> DEFAULTS =
      Map.of(
          Client.THREAD_COUNT_PROPERTY,
          "1",
          Client.TARGET_PROPERTY,
          "0",
          Client.MAX_EXECUTION_TIME,
          "0",
          Client.OPERATION_COUNT_PROPERTY,
          "0",
          WorkloadProperties.INTERVAL_SECONDS,
          "1",
          "measurement.interval",
          "both",
          "hdrhistogram.percentiles",
          "50,90,95,99,99.9,99.99");

  enum Output {
    text,
    json
  }

  @Parameters(paramLabel = "STORE", description = "the store; `sluice-ycsb stores` lists them")
  private String store;

  @Option(
      names = "-P",
      paramLabel = "FILE",
      description =
          "a file of properties: a workload, a profile with its sizes, settings of the store;"
              + " later files override earlier ones; names of the bundle's workloads need no path")
  private List<String> files = List.of();

  @Option(
      names = "-p",
      paramLabel = "NAME=VALUE",
      description = "one property; overrides all files")
  private Map<String, String> overrides = new LinkedHashMap<>();

  @Option(
      names = "--threads",
      paramLabel = "N",
      description = "threads, each with a client of its own; property threadcount; default 1")
  private String threads;

  @Option(
      names = "--results",
      paramLabel = "DIR",
      description =
          "write measurements.json, run.properties, intervals.csv and a histogram log (.hdr) per"
              + " operation to this directory, which must be empty or absent")
  private Path results;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FORMAT",
      description = "how to print the measurements: ${COMPLETION-CANDIDATES}; default text")
  private Output output = Output.text;

  @Option(names = "-s", description = "report progress on the error stream every 10 seconds")
  private boolean status;

  private final Phase phase;

  WorkloadCommand(Phase phase) {
    this.phase = phase;
  }

  /** Properties that have an option of their own, by name. */
  abstract Map<String, String> options();

  @Override
  public Integer call() throws Exception {
    StoreBinding binding = StoreBindings.named(store);
    Properties properties = properties();
    WorkloadProperties.check(phase, properties);
    StoreBindings.checkNames(binding, properties);
    ResultsDirectory directory = null;
    if (results != null) {
      ResultsDirectory.check(properties);
      directory = ResultsDirectory.create(results);
      directory.configure(properties);
    }
    PrintStream progress = status ? System.err : null;
    RunOutcome outcome = new WorkloadRun(binding, phase, properties, progress).execute();
    if (directory != null) {
      directory.write(StoreBindings.all(), properties, outcome);
    }
    print(outcome.measurements());
    return exitCode(outcome.measurements().failures());
  }

  private Properties properties() {
    Map<String, String> all = new LinkedHashMap<>(overrides);
    options().forEach((name, value) -> putIfGiven(all, name, value));
    putIfGiven(all, Client.THREAD_COUNT_PROPERTY, threads);
    Properties properties = WorkloadProperties.read(files, all);
    DEFAULTS.forEach(properties::putIfAbsent);
    return properties;
  }

  private static void putIfGiven(Map<String, String> map, String name, String value) {
    if (value != null) {
      map.put(name, value);
    }
  }

  private void print(MeasurementTable measurements) throws IOException {
    measurements.copyTo(
        output == Output.json
            ? new JSONArrayMeasurementsExporter(System.out)
            : new TextMeasurementsExporter(System.out));
  }

  private static int exitCode(long failures) {
    if (failures == 0) {
      return 0;
    }
    System.err.println(
        "sluice-ycsb: " + failures + " operations failed; the lines with Return= say which");
    return Main.EXIT_OPERATIONS_FAILED;
  }
}
