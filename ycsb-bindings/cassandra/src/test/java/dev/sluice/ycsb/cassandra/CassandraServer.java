package dev.sluice.ycsb.cassandra;

import dev.sluice.ycsb.contract.FreePorts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Stream;

/** A real Cassandra for tests: one node of the distribution, on free loopback ports. */
public final class CassandraServer implements AutoCloseable {
  /** The tag of tests that need it. */
  public static final String TAG = "cassandra-server";

  private static final int START_SECONDS = 900;
  private static final int ASK_MILLISECONDS = 200;
  private static final String SERVES = "Startup complete";

  private static final String CONFIGURATION =
      """
      cluster_name: ycsb
      num_tokens: 1
      partitioner: org.apache.cassandra.dht.Murmur3Partitioner
      endpoint_snitch: SimpleSnitch
      seed_provider:
        - class_name: org.apache.cassandra.locator.SimpleSeedProvider
          parameters:
            - seeds: "127.0.0.1:%1$d"
      listen_address: 127.0.0.1
      rpc_address: 127.0.0.1
      storage_port: %1$d
      native_transport_port: %2$d
      # A crash of the process is part of the tests.
      commitlog_sync: batch
      storage_compatibility_mode: NONE
      auto_snapshot: false
      """;

  private final Path home;
  private final Path directory;
  private final List<Integer> ports;
  private Process process;

  private CassandraServer(Path home, Path directory, List<Integer> ports) {
    this.home = home;
    this.directory = directory;
    this.ports = ports;
  }

  /**
   * Starts a node and waits until it serves.
   *
   * @throws IllegalStateException when no distribution is named, or it does not start
   */
  public static CassandraServer start() throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory("sluice-ycsb-");
    List<Integer> ports = FreePorts.some(3);
    CassandraServer server = new CassandraServer(home(), directory, ports);
    Files.writeString(
        directory.resolve("cassandra.yaml"), CONFIGURATION.formatted(ports.toArray()));
    server.startAgain();
    return server;
  }

  /** Settings that reach this server. */
  public Properties settings() {
    Properties properties = new Properties();
    properties.setProperty("cassandra.addresses", "127.0.0.1:" + ports.get(1));
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
    Files.deleteIfExists(log());
    ProcessBuilder builder =
        new ProcessBuilder(
            home.resolve("bin/cassandra").toString(), "--config", directory.toString(), "serve");
    Map<String, String> environment = builder.environment();
    environment.put("CASSANDRA_DATA_DIR", directory.resolve("data").toString());
    environment.put("CASSANDRA_JMX_PORT", ports.get(2).toString());
    // Most of what it does here is to start.
    environment.put(
        "CASSANDRA_JAVA_OPTIONS",
        "-Xmx768m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Djava.io.tmpdir=" + directory);
    process =
        builder
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log().toFile())
            .start();
    await();
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
    String home = System.getProperty("cassandra.home", "");
    if (home.isEmpty() || !Files.isExecutable(Path.of(home, "bin", "cassandra"))) {
      throw new IllegalStateException(
          "no Cassandra in '"
              + home
              + "': these tests need a real server; name a distribution with bin/cassandra by"
              + " -Dcassandra.home=DIR (sluice-dist compile cassandra makes one)");
    }
    return Path.of(home);
  }

  private void await() throws IOException, InterruptedException {
    long deadline = System.nanoTime() + START_SECONDS * 1_000_000_000L;
    while (!Files.readString(log()).contains(SERVES)) {
      if (!process.isAlive() || System.nanoTime() - deadline > 0) {
        crash();
        throw new IllegalStateException(
            "Cassandra did not start in " + START_SECONDS + " s:\n" + Files.readString(log()));
      }
      Thread.sleep(ASK_MILLISECONDS);
    }
  }

  private Path log() {
    return directory.resolve("log");
  }
}
