package dev.sluice.ycsb.ignite;

import dev.sluice.ycsb.contract.FreePorts;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Stream;

/**
 * A real Ignite for tests: one node of the distribution, a cluster of its own, on free loopback
 * ports.
 */
public final class IgniteServer implements AutoCloseable {
  /** The tag of tests that need it. */
  public static final String TAG = "ignite-server";

  private static final String NODE = "n1";
  private static final int START_SECONDS = 240;
  private static final int ASK_MILLISECONDS = 200;

  private static final String CONFIGURATION =
      """
      ignite {
        network { port = %1$d, nodeFinder.netClusterNodes = ["localhost:%1$d"] }
        clientConnector.port = %2$d
        rest.port = %3$d
        storage.profiles = [{name = rocks, engine = rocksdb}]
      }
      """;

  private final Path home;
  private final Path directory;
  private final int clientPort;
  private final int restPort;
  private Process process;

  private IgniteServer(Path home, Path directory, int clientPort, int restPort) {
    this.home = home;
    this.directory = directory;
    this.clientPort = clientPort;
    this.restPort = restPort;
  }

  /**
   * Starts a node and makes a cluster of it.
   *
   * @throws IllegalStateException when no distribution is named, or it does not start
   */
  public static IgniteServer start() throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory("sluice-ycsb-");
    List<Integer> ports = FreePorts.some(3);
    IgniteServer server = new IgniteServer(home(), directory, ports.get(1), ports.get(2));
    Files.writeString(
        directory.resolve("ignite-config.conf"), CONFIGURATION.formatted(ports.toArray()));
    server.startNode();
    server.await("STARTING");
    server.initialize();
    server.await("STARTED");
    return server;
  }

  /** Settings that reach this server. */
  public Properties settings() {
    Properties properties = new Properties();
    properties.setProperty("ignite.addresses", "127.0.0.1:" + clientPort);
    return properties;
  }

  /** Ends the server as a crash does. */
  public void crash() {
    // The launcher has become Java by then: there is no process but this.
    process.destroyForcibly().onExit().join();
  }

  /** Stops the server where it is, as a machine that hangs does, or lets it go on. */
  public void freeze(boolean frozen) throws IOException {
    String signal = frozen ? "-STOP" : "-CONT";
    new ProcessBuilder("kill", signal, Long.toString(process.pid())).start().onExit().join();
  }

  /** Starts the server on its data and waits until it is ready. */
  public void startAgain() throws IOException, InterruptedException {
    startNode();
    await("STARTED");
  }

  @Override
  public void close() throws IOException {
    crash();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  private static Path home() {
    String home = System.getProperty("ignite.home", "");
    if (home.isEmpty() || !Files.isExecutable(Path.of(home, "bin", "ignite"))) {
      throw new IllegalStateException(
          "no Ignite in '"
              + home
              + "': these tests need a real server; name a distribution with bin/ignite by"
              + " -Dignite.home=DIR (sluice-dist compile ignite makes one)");
    }
    return Path.of(home);
  }

  private void startNode() throws IOException {
    ProcessBuilder builder = launcher("--config", directory.toString(), "serve");
    Map<String, String> environment = builder.environment();
    environment.put("IGNITE_NODE_NAME", NODE);
    environment.put("IGNITE_DATA_DIR", directory.resolve("data").toString());
    // Most of what it does here is to start.
    environment.put(
        "IGNITE_JAVA_OPTIONS",
        "-Xmx768m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djava.io.tmpdir=" + directory);
    process = builder.redirectOutput(log().toFile()).start();
  }

  private void initialize() throws IOException {
    Process init =
        launcher("init", "--rest", rest(), "--cluster", "ycsb", "--metastorage-node", NODE)
            .redirectOutput(directory.resolve("init.log").toFile())
            .start();
    if (init.onExit().join().exitValue() != 0) {
      throw failure(Files.readString(directory.resolve("init.log")));
    }
  }

  private void await(String state) throws IOException, InterruptedException {
    long deadline = System.nanoTime() + START_SECONDS * 1_000_000_000L;
    while (!state().contains('"' + state + '"')) {
      if (!process.isAlive() || System.nanoTime() - deadline > 0) {
        throw failure(Files.readString(log()));
      }
      Thread.sleep(ASK_MILLISECONDS);
    }
  }

  private String state() throws InterruptedException {
    URI uri = URI.create("http://" + rest() + "/management/v1/node/state");
    try {
      HttpRequest request = HttpRequest.newBuilder(uri).build();
      return HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).body();
    } catch (IOException e) {
      return "";
    }
  }

  private IllegalStateException failure(String output) {
    crash();
    return new IllegalStateException("Ignite did not start in " + START_SECONDS + " s:\n" + output);
  }

  private ProcessBuilder launcher(String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(home.resolve("bin/ignite").toString());
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true);
  }

  private String rest() {
    return "localhost:" + restPort;
  }

  private Path log() {
    return directory.resolve("log");
  }
}
