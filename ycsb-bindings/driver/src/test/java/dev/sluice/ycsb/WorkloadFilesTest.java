package dev.sluice.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import site.ycsb.generator.DiscreteGenerator;
import site.ycsb.workloads.CoreWorkload;

/** The committed workloads and profiles are what the experiments say. */
class WorkloadFilesTest {
  private static final Path WORKLOADS = Path.of(System.getProperty("sluice.workloads"));
  private static final int DRAWS = 40_000;

  /** Opens up the generator that YCSB makes from the properties. */
  private static final class Mix extends CoreWorkload {
    static DiscreteGenerator of(Properties properties) {
      return createOperationGenerator(properties);
    }
  }

  private static Properties read(String... files) {
    List<String> paths =
        Stream.of(files).map(file -> WORKLOADS.resolve(file + ".properties").toString()).toList();
    return WorkloadProperties.read(paths, Map.of());
  }

  @ParameterizedTest
  @CsvSource({
    "a, 0.50, 0.50, 0.00, 0.00, 0.00, zipfian",
    "a-single-field, 0.50, 0.50, 0.00, 0.00, 0.00, zipfian",
    "b, 0.00, 1.00, 0.00, 0.00, 0.00, zipfian",
    "b-single-field, 0.00, 1.00, 0.00, 0.00, 0.00, zipfian",
    "c, 1.00, 0.00, 0.00, 0.00, 0.00, uniform",
    "c-single-field, 1.00, 0.00, 0.00, 0.00, 0.00, uniform",
    "d, 0.05, 0.00, 0.95, 0.00, 0.00, zipfian",
    "d-single-field, 0.05, 0.00, 0.95, 0.00, 0.00, zipfian",
    "e, 0.00, 0.00, 0.05, 0.95, 0.00, zipfian",
    "e-single-field, 0.00, 0.00, 0.05, 0.95, 0.00, zipfian",
    "f, 0.50, 0.00, 0.00, 0.00, 0.50, zipfian",
    "f-single-field, 0.50, 0.00, 0.00, 0.00, 0.50, zipfian",
    "i, 0.00, 0.00, 1.00, 0.00, 0.00, uniform",
  })
  void ycsbDrawsTheOperationsOfTheWorkload(
      String letter,
      double read,
      double update,
      double insert,
      double scan,
      double readModifyWrite,
      String distribution) {
    Properties properties = read(letter);
    assertEquals(distribution, properties.getProperty("requestdistribution"));
    DiscreteGenerator mix = Mix.of(properties);
    Map<String, Integer> drawn = new HashMap<>();
    for (int i = 0; i < DRAWS; i++) {
      drawn.merge(mix.nextValue(), 1, Integer::sum);
    }
    Map<String, Double> expected =
        Map.of(
            "READ", read,
            "UPDATE", update,
            "INSERT", insert,
            "SCAN", scan,
            "READMODIFYWRITE", readModifyWrite);
    // Six standard deviations of the widest binomial; an absent operation is never drawn.
    expected.forEach(
        (operation, share) ->
            assertEquals(share, drawn.getOrDefault(operation, 0) / (double) DRAWS, 0.015));
    assertEquals(expected.values().stream().filter(share -> share > 0).count(), drawn.size());
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "b", "c", "d", "e", "f", "i"})
  void recordsHaveOneKilobyte(String letter) {
    Properties properties = read(letter);
    assertEquals("10", properties.getProperty("fieldcount"));
    assertEquals("100", properties.getProperty("fieldlength"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "b", "c", "d", "e", "f"})
  void aSingleFieldIsAsLongAsTheTen(String letter) {
    Properties properties = read(letter + "-single-field");
    assertEquals("1", properties.getProperty("fieldcount"));
    assertEquals("1000", properties.getProperty("fieldlength"));
  }

  @ParameterizedTest
  @CsvSource({
    "smoke, 20000, 20000, 20",
    "small, 1000000, 10000000, 120",
    "paper, 12500000, 10000000, 1020",
  })
  void profileHasTheSizes(String profile, String records, String operations, String seconds) {
    Properties properties = read("profiles/" + profile);
    assertEquals(
        Map.of("recordcount", records, "operationcount", operations, "maxexecutiontime", seconds),
        properties);
  }

  @Test
  void everyFileIsTested() throws Exception {
    try (Stream<Path> files = Files.walk(WORKLOADS)) {
      assertEquals(
          List.of(
              "a-single-field.properties",
              "a.properties",
              "b-single-field.properties",
              "b.properties",
              "c-single-field.properties",
              "c.properties",
              "d-single-field.properties",
              "d.properties",
              "e-single-field.properties",
              "e.properties",
              "f-single-field.properties",
              "f.properties",
              "i.properties",
              "profiles/paper.properties",
              "profiles/small.properties",
              "profiles/smoke.properties"),
          files
              .filter(Files::isRegularFile)
              .map(file -> WORKLOADS.relativize(file).toString())
              .sorted()
              .toList());
    }
  }

  @Test
  void lettersAreSaidNotToBeThoseOfYcsb() throws Exception {
    try (Stream<Path> files = Files.list(WORKLOADS)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        String text = Files.readString(file);
        assertTrue(
            text.contains("# workloads of the same letter that YCSB ships"), file.toString());
      }
    }
  }
}
