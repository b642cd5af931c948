package dev.sluice.ycsb;

import java.io.IOException;
import java.io.OutputStream;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import site.ycsb.measurements.exporter.JSONArrayMeasurementsExporter;

/** The files of one run: its properties, its measurements, its histogram logs and intervals. */
final class ResultsDirectory {
  /** Start of the run in the properties of a finished run, milliseconds since 1970. */
  static final String START_MILLISECONDS = "sluice.run.start_unix_milliseconds";

  private static final String RUN_PROPERTIES = "run.properties";
  private static final String MEASUREMENTS = "measurements.json";
  private static final String INTERVALS = "intervals.csv";

  private final Path directory;

  private ResultsDirectory(Path directory) {
    this.directory = directory;
  }

  /**
   * Refuses measurements that leave no histogram logs, or none of what is called measured.
   *
   * @throws SettingException with what to set instead
   */
  static void check(Properties properties) {
    expect(properties, "measurementtype", "hdrhistogram", Set.of("hdrhistogram"));
    expect(properties, "measurement.interval", "op", Set.of("both", "op"));
  }

  private static void expect(
      Properties properties, String name, String otherwise, Set<String> known) {
    String value = properties.getProperty(name, otherwise);
    if (!known.contains(value)) {
      throw new SettingException(
          name
              + "="
              + value
              + " leaves nothing to write to --results; use "
              + known.stream().sorted().collect(Collectors.joining(" or ")));
    }
  }

  /**
   * An empty directory, made if it is absent.
   *
   * @throws SettingException when something is in it already
   */
  static ResultsDirectory create(Path directory) throws IOException {
    Files.createDirectories(directory);
    try (Stream<Path> content = Files.list(directory)) {
      if (content.findAny().isPresent()) {
        throw new SettingException(directory + " is not empty; name a new directory per run");
      }
    }
    return new ResultsDirectory(directory);
  }

  /** Makes YCSB write its histogram logs here. */
  void configure(Properties properties) {
    properties.setProperty("hdrhistogram.fileoutput", "true");
    properties.setProperty("hdrhistogram.output.path", directory + "/");
  }

  /**
   * Writes everything but the histogram logs, which are there already.
   *
   * @param bindings of all stores: a file of properties may have the secrets of others too
   */
  void write(List<StoreBinding> bindings, Properties properties, RunOutcome outcome)
      throws IOException {
    try (OutputStream out = Files.newOutputStream(directory.resolve(MEASUREMENTS))) {
      outcome.measurements().copyTo(new JSONArrayMeasurementsExporter(out));
    }
    try (Writer out = Files.newBufferedWriter(directory.resolve(RUN_PROPERTIES))) {
      writeProperties(bindings, properties, outcome, out);
    }
    int seconds = Integer.parseInt(properties.getProperty(WorkloadProperties.INTERVAL_SECONDS));
    try (Writer out = Files.newBufferedWriter(directory.resolve(INTERVALS))) {
      IntervalTable.write(directory, outcome.startMillis(), seconds, out);
    }
  }

  /**
   * The properties of the run that left its results in a directory, with its start.
   *
   * @throws SettingException when it holds no finished run
   */
  static Properties finishedRun(Path directory) throws IOException {
    Properties properties = new Properties();
    Path file = directory.resolve(RUN_PROPERTIES);
    if (Files.isRegularFile(file)) {
      try (var reader = Files.newBufferedReader(file)) {
        properties.load(reader);
      }
    }
    if (!properties.containsKey(START_MILLISECONDS)) {
      throw new SettingException(
          directory + " holds no finished run; name the --results directory of one");
    }
    return properties;
  }

  private static void writeProperties(
      List<StoreBinding> bindings, Properties properties, RunOutcome outcome, Writer out)
      throws IOException {
    Properties shown = new Properties();
    properties.forEach(shown::put);
    bindings.stream()
        .flatMap(binding -> binding.settings().stream())
        .filter(Setting::secret)
        .forEach(secret -> shown.remove(secret.name()));
    shown.setProperty(START_MILLISECONDS, Long.toString(outcome.startMillis()));
    shown.store(out, null);
  }
}
