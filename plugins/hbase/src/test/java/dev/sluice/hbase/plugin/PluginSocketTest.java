package dev.sluice.hbase.plugin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.sluice.hbase.lease.LeaseStore;
import dev.sluice.hbase.protocol.ProtocolClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PluginSocketTest {
  private static final String KEY = "sluice.master.instance";

  @TempDir private Path folder;
  private final Configuration conf = new Configuration(false);
  private final PluginSocket socket =
      new PluginSocket(new LeaseStore(System::nanoTime), List.of(), List.of(), scope -> true);

  @AfterEach
  void close() {
    socket.close();
  }

  private void serve() {
    conf.set(PluginSocket.DIRECTORY_KEY, folder.toString());
    socket.serve(conf, KEY, "master");
  }

  private Path path(String instance) {
    return folder.resolve("hbase").resolve(instance + ".sock");
  }

  private Map<?, ?> describe(String instance) throws Exception {
    try (ProtocolClient client = new ProtocolClient(path(instance))) {
      return client.call("describe", "{'protocol_version':{'major':1,'minor':1}}");
    }
  }

  @Test
  void anInstanceHasItsNameAndBoundsFromTheConfiguration() throws Exception {
    conf.set(KEY, "one");
    conf.setDouble(PluginSocket.MAX_TIME_TO_LIVE_KEY, 30);
    serve();
    Map<?, ?> description = describe("one");
    assertEquals("hbase", description.get("store"));
    assertEquals("one", description.get("instance"));
    assertEquals(30.0, description.get("max_time_to_live_seconds"));
  }

  @Test
  void withoutAConfigurationTheServerNamesIt() throws Exception {
    serve();
    serve();
    assertEquals("master", describe("master").get("instance"));
    assertEquals(600.0, describe("master").get("max_time_to_live_seconds"));
  }

  @Test
  void aWrongNameIsNotServed() {
    conf.set(KEY, "../main");
    serve();
    assertFalse(Files.exists(folder.resolve("hbase")));
  }

  @Test
  void theSocketGoesWithItsServer() {
    serve();
    socket.close();
    assertFalse(Files.exists(path("master")));
    serve();
    assertFalse(Files.exists(path("master")));
  }
}
