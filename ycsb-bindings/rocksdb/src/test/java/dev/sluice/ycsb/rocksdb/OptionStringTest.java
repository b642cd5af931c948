package dev.sluice.ycsb.rocksdb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.ycsb.SettingException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Option strings are taken apart at the outermost semicolons alone. */
class OptionStringTest {
  private static Map<Object, Object> parsed(String text) {
    return OptionString.parse(RocksDbSettings.DATABASE_OPTIONS, text);
  }

  @Test
  void optionsAreSeparatedBySemicolons() {
    assertEquals(Map.of("a", "1", "b", "2"), parsed(" a = 1 ;b=2; "));
  }

  @Test
  void whatIsInBracesStaysAsItIs() {
    String service = "{id=sluice;instance=ycsb;more={x=1;y=2}}";
    assertEquals(
        Map.of("compaction_service", service, "max_background_jobs", "4"),
        parsed("compaction_service=" + service + ";max_background_jobs=4"));
  }

  @Test
  void onlyTheFirstEqualsSignSeparates() {
    assertEquals(Map.of("a", "b=c"), parsed("a=b=c"));
  }

  @Test
  void aValueMayBeEmpty() {
    assertEquals(Map.of("wal_dir", ""), parsed("wal_dir="));
  }

  @ParameterizedTest
  @CsvSource({
    "a, is not NAME=VALUE",
    "=1, is not NAME=VALUE",
    ";, no option",
    "a={b=1, braces",
    "a=b}, braces",
  })
  void mistakesAreNamed(String text, String mistake) {
    String message = assertThrows(SettingException.class, () -> parsed(text)).getMessage();
    assertTrue(message.contains("rocksdb.databaseoptions=" + text), message);
    assertTrue(message.contains(mistake), message);
  }
}
