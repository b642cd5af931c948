package dev.sluice.ycsb.cassandra;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import dev.sluice.ycsb.SettingException;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Wrong settings are refused with what to do next. */
class CassandraSettingsTest {
  private static Properties complete() {
    Properties properties = new Properties();
    properties.setProperty("cassandra.addresses", "n1:9042, [::1]:9043");
    return properties;
  }

  private static String refusal(Properties properties) {
    return assertThrows(SettingException.class, () -> CassandraSettings.of(properties))
        .getMessage();
  }

  @Test
  void defaultsAreAMajorityOfReplicas() {
    CassandraSettings settings = CassandraSettings.of(complete());
    assertEquals(List.of("n1:9042", "[::1]:9043"), settings.addresses());
    assertEquals(DefaultConsistencyLevel.QUORUM, settings.readConsistency());
    assertEquals(DefaultConsistencyLevel.QUORUM, settings.writeConsistency());
    assertEquals("ycsb", settings.keyspace());
    assertEquals(1, settings.replicas());
  }

  @Test
  void missingAddressesAreNamedWithAnExample() {
    String message = refusal(new Properties());
    assertTrue(message.contains("-p cassandra.addresses=node1:9042"), message);
  }

  @ParameterizedTest
  @CsvSource({
    "cassandra.addresses, 'n1:9042,', HOST:PORT",
    "cassandra.addresses, n1, HOST:PORT",
    "cassandra.addresses, n1 n2:1, HOST:PORT",
    "cassandra.datacenter, it''s, nodetool status",
    "cassandra.readconsistency, MANY, LOCAL_QUORUM",
    "cassandra.writeconsistency, '', LOCAL_QUORUM",
    "cassandra.timeoutmilliseconds, 0, from 1 up",
    "cassandra.replicas, none, from 1 up",
  })
  void wrongValueIsNamedWithWhatIsRight(String name, String value, String right) {
    Properties properties = complete();
    properties.setProperty(name, value);
    String message = refusal(properties);
    assertTrue(message.contains(name) && message.contains(right), message);
  }
}
