package dev.sluice.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class WorkloadPropertiesTest {
  @TempDir private Path directory;

  private static Properties complete() {
    Properties properties = new Properties();
    properties.putAll(
        Map.of(
            "recordcount",
            "10",
            "operationcount",
            "10",
            "threadcount",
            "1",
            "maxexecutiontime",
            "0",
            "target",
            "0",
            WorkloadProperties.INTERVAL_SECONDS,
            "1"));
    return properties;
  }

  private static String refusal(Phase phase, Properties properties) {
    return assertThrows(SettingException.class, () -> WorkloadProperties.check(phase, properties))
        .getMessage();
  }

  @Test
  void laterFilesAndThenSinglePropertiesOverride() throws Exception {
    Path first = Files.writeString(directory.resolve("first"), "a=1\nb=1\nc=1\n");
    Path second = Files.writeString(directory.resolve("second"), "b=2\nc=2\n");
    Properties properties =
        WorkloadProperties.read(List.of(first.toString(), second.toString()), Map.of("c", "x=y?z"));
    assertEquals(Map.of("a", "1", "b", "2", "c", "x=y?z"), properties);
  }

  @Test
  void missingFileIsNamed() {
    var e =
        assertThrows(
            SettingException.class,
            () -> WorkloadProperties.read(List.of("no.properties"), Map.of()));
    assertTrue(e.getMessage().contains("no file no.properties"), e.getMessage());
  }

  @ParameterizedTest
  @CsvSource({
    "recordcount, 0",
    "recordcount, many",
    "recordcount, 3000000000",
    "threadcount, 0",
    "maxexecutiontime, -1",
    "target, 1.5",
    "operationcount, -1",
    "status.interval, 0",
  })
  void wrongNumberIsNamed(String name, String value) {
    Properties properties = complete();
    properties.setProperty(name, value);
    String message = refusal(Phase.RUN, properties);
    assertTrue(message.startsWith(name + "=" + value + " is not a whole number"), message);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "many", "3000000000"})
  void loadOfNoNumberOfRecordsIsNamed(String value) {
    Properties properties = complete();
    properties.setProperty("insertcount", value);
    for (Phase phase : Phase.values()) {
      String message = refusal(phase, properties);
      assertTrue(message.startsWith("insertcount=" + value + " is not a whole number"), message);
    }
  }

  @Test
  void loadOfAPartIsWhatInsertCountSays() {
    Properties properties = complete();
    properties.setProperty("insertcount", " 3 ");
    WorkloadProperties.check(Phase.LOAD, properties);
    assertEquals(3, Phase.LOAD.operations(properties));
  }

  @Test
  void missingSizePointsToTheProfiles() {
    Properties properties = complete();
    properties.remove("recordcount");
    String message = refusal(Phase.LOAD, properties);
    assertTrue(message.contains("profiles/smoke.properties"), message);
  }

  @Test
  void endlessRunIsRefusedAndEndlessLoadIsNot() {
    Properties properties = complete();
    properties.setProperty("operationcount", "0");
    assertTrue(refusal(Phase.RUN, properties).contains("never end"));
    WorkloadProperties.check(Phase.LOAD, properties);
  }

  @Test
  void targetAndScheduleExcludeEachOther() {
    Properties properties = complete();
    properties.setProperty("target", "5");
    properties.setProperty(WorkloadProperties.TARGET_SCHEDULE, "1s:5");
    assertTrue(refusal(Phase.RUN, properties).contains("not both"));
  }

  @Test
  void noTargetIsFullSpeed() {
    assertNull(WorkloadProperties.schedule(complete()));
  }
}
