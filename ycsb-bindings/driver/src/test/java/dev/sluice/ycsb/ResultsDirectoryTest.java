package dev.sluice.ycsb;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ResultsDirectoryTest {
  @ParameterizedTest
  @CsvSource({
    "measurementtype, timeseries, use hdrhistogram",
    "measurementtype, raw, use hdrhistogram",
    "measurement.interval, intended, use both or op",
  })
  void measurementsWithoutLogsAreRefused(String name, String value, String right) {
    Properties properties = new Properties();
    properties.setProperty(name, value);
    var refused = assertThrows(SettingException.class, () -> ResultsDirectory.check(properties));
    assertTrue(refused.getMessage().startsWith(name + "=" + value), refused.getMessage());
    assertTrue(refused.getMessage().endsWith(right), refused.getMessage());
  }

  @Test
  void measurementsWithLogsAreNot() {
    Properties properties = new Properties();
    ResultsDirectory.check(properties);
    properties.setProperty("measurementtype", "hdrhistogram");
    properties.setProperty("measurement.interval", "both");
    ResultsDirectory.check(properties);
  }
}
