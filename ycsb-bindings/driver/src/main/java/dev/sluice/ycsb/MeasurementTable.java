package dev.sluice.ycsb;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import site.ycsb.measurements.exporter.MeasurementsExporter;

/**
 * The rows that YCSB exports at the end of a run, kept so that they can be written more than once
 * and asked for failures.
 */
final class MeasurementTable implements MeasurementsExporter {
  private static final String RETURN = "Return=";
  private static final Set<String> GOOD = Set.of(RETURN + "OK", RETURN + "BATCHED_OK");

  private record Row(String metric, String measurement, Number value) {}

  private final List<Row> rows = new ArrayList<>();

  @Override
  public void write(String metric, String measurement, int value) {
    rows.add(new Row(metric, measurement, value));
  }

  @Override
  public void write(String metric, String measurement, long value) {
    rows.add(new Row(metric, measurement, value));
  }

  @Override
  public void write(String metric, String measurement, double value) {
    rows.add(new Row(metric, measurement, value));
  }

  /** Nothing is open. */
  @Override
  public void close() {}

  /** Operations, and checks of read data, that ended in anything but success. */
  long failures() {
    return rows.stream()
        .filter(row -> row.measurement.startsWith(RETURN) && !GOOD.contains(row.measurement))
        .mapToLong(row -> row.value.longValue())
        .sum();
  }

  /** Writes all rows to another exporter and closes it. */
  void copyTo(MeasurementsExporter exporter) throws IOException {
    try (exporter) {
      for (Row row : rows) {
        if (row.value instanceof Integer value) {
          exporter.write(row.metric, row.measurement, value);
        } else if (row.value instanceof Long value) {
          exporter.write(row.metric, row.measurement, value);
        } else {
          exporter.write(row.metric, row.measurement, row.value.doubleValue());
        }
      }
    }
  }
}
