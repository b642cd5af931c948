package dev.sluice.ycsb.rocksdb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.ycsb.SettingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Wrong settings are refused with what to do next. */
class RocksDbSettingsTest {
  @TempDir private Path folder;

  private static Properties complete() {
    Properties properties = new Properties();
    properties.setProperty("rocksdb.directory", "/srv/rocksdb/../rocksdb/ycsb");
    return properties;
  }

  private static String refusal(Properties properties) {
    return assertThrows(SettingException.class, () -> RocksDbSettings.of(properties)).getMessage();
  }

  @Test
  void defaultsAreOneUnsyncedWritePerOperationToTheDefaultFamily() {
    RocksDbSettings settings = RocksDbSettings.of(complete());
    assertEquals(Path.of("/srv/rocksdb/ycsb"), settings.directory());
    assertEquals("default", settings.family());
    assertEquals(1, settings.batchSize());
    assertFalse(settings.sync());
  }

  @Test
  void missingDirectoryIsNamedWithAnExample() {
    String message = refusal(new Properties());
    assertTrue(message.contains("-p rocksdb.directory=/srv/rocksdb/ycsb"), message);
  }

  @ParameterizedTest
  @CsvSource({
    "rocksdb.batchsize, 0, from 1 up",
    "rocksdb.batchsize, many, from 1 up",
    "rocksdb.sync, yes, true or false",
    "rocksdb.family, ' ', leave it out",
    "rocksdb.optionsfile, /does/not/exist, cannot be read",
  })
  void wrongValueIsNamedWithWhatIsRight(String name, String value, String right) {
    Properties properties = complete();
    properties.setProperty(name, value);
    String message = refusal(properties);
    assertTrue(message.contains(name) && message.contains(right), message);
  }

  @ParameterizedTest
  @CsvSource({"rocksdb.databaseoptions", "rocksdb.familyoptions"})
  void optionsFileAndOptionStringsExcludeEachOther(String name) {
    Properties properties = complete();
    properties.setProperty("rocksdb.optionsfile", "OPTIONS-000007");
    properties.setProperty(name, "a=1");
    assertTrue(refusal(properties).contains("either"));
  }

  @Test
  void optionsFileAndAutoTunedLimiterExcludeEachOther() throws Exception {
    Properties properties = complete();
    Path file = Files.createFile(folder.resolve("OPTIONS-000007"));
    properties.setProperty("rocksdb.optionsfile", file.toString());
    properties.setProperty("rocksdb.autotunedlimiterbytespersecond", "0");
    RocksDbSettings.of(properties);
    properties.setProperty("rocksdb.autotunedlimiterbytespersecond", "1000000");
    String message = refusal(properties);
    assertTrue(message.contains("rocksdb.autotunedlimiterbytespersecond"), message);
  }
}
