package dev.sluice.ycsb.postgres;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.ycsb.SettingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Wrong settings are refused with what to do next. */
class PostgresSettingsTest {
  @TempDir private Path directory;

  private static Properties complete() {
    Properties properties = new Properties();
    properties.setProperty("postgres.url", "jdbc:postgresql://localhost/ycsb");
    properties.setProperty("postgres.user", "ycsb");
    return properties;
  }

  private static String refusal(Properties properties) {
    return assertThrows(SettingException.class, () -> PostgresSettings.of(properties)).getMessage();
  }

  @Test
  void defaultsAreOneCommittedPreparedStatementPerOperation() {
    PostgresSettings settings = PostgresSettings.of(complete());
    assertEquals(1, settings.batchSize());
    assertEquals(1, settings.prepareThreshold());
    assertEquals(false, settings.upsert());
  }

  @ParameterizedTest
  @CsvSource({"0, 0", "1, 1", "900, 1", "1000, 1", "1001, 2"})
  void aTimeoutOfLessThanASecondIsOne(String milliseconds, int seconds) {
    Properties properties = complete();
    properties.setProperty("postgres.timeoutmilliseconds", milliseconds);
    assertEquals(seconds, PostgresSettings.of(properties).timeoutSeconds());
  }

  @ParameterizedTest
  @CsvSource({
    "postgres.url, jdbc:postgresql://localhost:5432/ycsb",
    "postgres.user, ycsb",
  })
  void missingSettingIsNamedWithAnExample(String name, String example) {
    Properties properties = complete();
    properties.remove(name);
    String message = refusal(properties);
    assertTrue(message.contains("-p " + name + "=" + example), message);
  }

  @ParameterizedTest
  @CsvSource({
    "postgres.url, localhost:5432, jdbc:postgresql",
    "postgres.batchsize, 0, from 1 up",
    "postgres.batchsize, many, from 1 up",
    "postgres.preparethreshold, -1, from 0 up",
    "postgres.upsert, yes, true or false",
    "postgres.timeoutmilliseconds, -1, from 0 up",
    "postgres.passfile, /does/not/exist, cannot be read",
  })
  void wrongValueIsNamedWithWhatIsRight(String name, String value, String right) {
    Properties properties = complete();
    properties.setProperty(name, value);
    String message = refusal(properties);
    assertTrue(message.contains(name) && message.contains(right), message);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "jdbc:postgresql://h/d?password=hidden",
        "jdbc:postgresql://h/d?ssl=true&sslpassword=hidden",
        "jdbc:postgresql://h/d?Password=hidden",
        "postgresql://h/d?password=hidden",
      })
  void secretInTheUrlIsRefusedAndNotShown(String url) {
    Properties properties = complete();
    properties.setProperty("postgres.url", url);
    String message = refusal(properties);
    assertTrue(message.contains("postgres.password"), message);
    assertFalse(message.contains("hidden"), message);
  }

  @Test
  void passfileMustBePrivate() throws Exception {
    Path file = Files.createFile(directory.resolve("passfile"));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
    Properties properties = complete();
    properties.setProperty("postgres.passfile", file.toString());
    assertTrue(refusal(properties).contains("chmod 0600"));
  }

  @Test
  void passwordAndPassfileExcludeEachOther() {
    Properties properties = complete();
    properties.setProperty("postgres.password", "p");
    properties.setProperty("postgres.passfile", "f");
    assertTrue(refusal(properties).contains("either"));
  }
}
