package dev.sluice.local.plugin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.protocol.ProtocolClient;
import dev.sluice.local.protocol.Scopes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PluginSocketTest {
  private static final String KEY = "sluice.master.instance";

  @TempDir private Path folder;
  private final Map<String, String> conf = new HashMap<>();
  private final PluginSocket socket =
      new PluginSocket(
          new Store("store", "2.6.4", "0.1.0"),
          new LeaseStore(System::nanoTime),
          List.of(),
          List.of(),
          new Scopes(scope -> true, ""));

  @AfterEach
  void close() {
    socket.close();
  }

  private void serve() {
    conf.put(PluginSocket.DIRECTORY_KEY, folder.toString());
    socket.serve(conf::get, KEY, "master");
  }

  private Path path(String instance) {
    return folder.resolve("store").resolve(instance + ".sock");
  }

  private Map<?, ?> describe(String instance) throws Exception {
    try (ProtocolClient client = new ProtocolClient(path(instance))) {
      return client.call("describe", "{'protocol_version':{'major':1,'minor':1}}");
    }
  }

  @Test
  void anInstanceHasItsNameAndBoundsFromTheConfiguration() throws Exception {
    conf.put(KEY, "one");
    conf.put(PluginSocket.MAX_TIME_TO_LIVE_KEY, "30");
    serve();
    Map<?, ?> description = describe("one");
    assertEquals("store", description.get("store"));
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
    conf.put(KEY, "../main");
    serve();
    assertFalse(Files.exists(folder.resolve("store")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "0.0009", "-1", "1.1e9", "NaN", "Infinity", "1h", "1d", ""})
  void aTimeThatIsNoneIsNotServed(String value) {
    conf.put(PluginSocket.MAX_TIME_TO_LIVE_KEY, value);
    serve();
    assertFalse(Files.exists(folder.resolve("store")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.001", "1e9", " 30. "})
  void aTimeInRangeIsServed(String value) throws Exception {
    conf.put(PluginSocket.MAX_TIME_TO_LIVE_KEY, value);
    serve();
    assertEquals(Double.parseDouble(value), describe("master").get("max_time_to_live_seconds"));
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
