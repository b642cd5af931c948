package dev.sluice.ycsb.ignite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.ycsb.SettingException;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Wrong settings are refused with what to do next. */
class IgniteSettingsTest {
  private static Properties complete() {
    Properties properties = new Properties();
    properties.setProperty("ignite.addresses", "n1:10800, [::1]:10801,n3");
    return properties;
  }

  private static String refusal(Properties properties) {
    return assertThrows(SettingException.class, () -> IgniteSettings.of(properties)).getMessage();
  }

  @Test
  void defaultsAreOneTransactionPerOperationOnATableInRocksDb() {
    IgniteSettings settings = IgniteSettings.of(complete());
    assertEquals(List.of("n1:10800", "[::1]:10801", "n3"), settings.addresses());
    assertEquals(1, settings.batchSize());
    assertFalse(settings.upsert());
    assertEquals("rocks", settings.profile());
    assertEquals(1, settings.replicas());
    assertEquals(Placement.Shares.HASH, settings.shares());
  }

  @Test
  void sharesAreOfPartitionsThatAreOnOneNode() {
    Properties properties = complete();
    properties.setProperty("ignite.partitionshares", "zipfian");
    assertEquals(Placement.Shares.ZIPFIAN, IgniteSettings.of(properties).shares());
    properties.setProperty("ignite.replicas", "3");
    assertTrue(refusal(properties).contains("use ignite.replicas=1"));
  }

  @Test
  void missingAddressesAreNamedWithAnExample() {
    String message = refusal(new Properties());
    assertTrue(message.contains("-p ignite.addresses=node1:10800"), message);
  }

  @ParameterizedTest
  @CsvSource({
    "ignite.addresses, 'n1:10800,', HOST:PORT",
    "ignite.addresses, n1:port, HOST:PORT",
    "ignite.addresses, n1 n2, HOST:PORT",
    "ignite.batchsize, 0, from 1 up",
    "ignite.batchsize, many, from 1 up",
    "ignite.timeoutmilliseconds, -1, from 0 up",
    "ignite.upsert, yes, true or false",
    "ignite.partitions, 0, from 1 up",
    "ignite.replicas, 0, from 1 up",
    "ignite.partitionshares, even, 'hash, uniform, zipfian'",
    "ignite.placement, '', 'crowded, balanced'",
    "ignite.profile, ' ', storage.profiles",
    "ignite.profile, it''s, storage.profiles",
  })
  void wrongValueIsNamedWithWhatIsRight(String name, String value, String right) {
    Properties properties = complete();
    properties.setProperty(name, value);
    String message = refusal(properties);
    assertTrue(message.contains(name) && message.contains(right), message);
  }
}
