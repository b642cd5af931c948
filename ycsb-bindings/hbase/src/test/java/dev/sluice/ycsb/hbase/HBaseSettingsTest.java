package dev.sluice.ycsb.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.ycsb.SettingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.client.Durability;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Wrong settings are refused with what to do next; right ones reach HBase's client. */
class HBaseSettingsTest {
  private static Properties complete() {
    Properties properties = new Properties();
    properties.setProperty("hbase.zookeeper.quorum", "zk1:2181,zk2:2181");
    return properties;
  }

  private static String refusal(Properties properties) {
    return assertThrows(SettingException.class, () -> HBaseSettings.of(properties)).getMessage();
  }

  @Test
  void defaultsAreOneCallPerOperationAndWhatTheTableSays() {
    HBaseSettings settings = HBaseSettings.of(complete());
    assertEquals(1, settings.batchSize());
    assertEquals(Durability.USE_DEFAULT, settings.durability());
    assertEquals(List.of("f"), settings.families().names());
    assertEquals(true, settings.scanCacheBlocks());
  }

  @Test
  void missingQuorumIsNamedWithAnExample() {
    String message = refusal(new Properties());
    assertTrue(message.contains("-p hbase.zookeeper.quorum=zk1:2181"), message);
  }

  @ParameterizedTest
  @CsvSource({
    "hbase.znode, hbase, does not start with /",
    "hbase.site, /does/not/exist, cannot be read",
    "hbase.durability, always, skip_wal",
    "hbase.timeoutmilliseconds, 0, from 1 up",
    "hbase.scancaching, -1, from 0 up",
    "hbase.scancacheblocks, yes, true or false",
    "hbase.batchsize, many, from 1 up",
    "hbase.readfamilies, other, none of hbase.families",
    "hbase.families, 'a,b', two families",
  })
  void wrongValueIsNamedWithWhatIsRight(String name, String value, String right) {
    Properties properties = complete();
    properties.setProperty(name, value);
    String message = refusal(properties);
    assertTrue(message.contains(name) && message.contains(right), message);
  }

  @Test
  void siteIsTheStartAndSettingsAreOnTop(@TempDir Path directory) throws Exception {
    Path site = directory.resolve("site.xml");
    Files.writeString(
        site,
        """
        <configuration>
          <property><name>hbase.client.pause</name><value>7</value></property>
          <property><name>hbase.zookeeper.quorum</name><value>elsewhere</value></property>
        </configuration>
        """);
    Properties properties = complete();
    properties.setProperty("hbase.site", site.toString());
    properties.setProperty("hbase.znode", "/other");
    properties.setProperty("hbase.timeoutmilliseconds", "1234");
    Configuration configuration = HBaseSettings.of(properties).configuration();
    assertEquals("7", configuration.get("hbase.client.pause"));
    assertEquals("zk1:2181,zk2:2181", configuration.get("hbase.zookeeper.quorum"));
    assertEquals("/other", configuration.get("zookeeper.znode.parent"));
    assertEquals("1234", configuration.get("hbase.client.operation.timeout"));
  }
}
