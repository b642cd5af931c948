package dev.sluice.hbase.commands;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** A master and two region servers in one process, started by the launcher of the distribution. */
final class Standalone implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(4);
  private static final int STOP_SECONDS = 60;

  /** The prefix of the staged distribution. */
  static final Path HOME =
      Path.of(
          Objects.requireNonNull(
              System.getProperty("hbase.home"),
              "give -Dhbase.home=PREFIX, what `sluice-dist compile hbase` prints"));

  private final Path folder;
  private final Process process;

  private Standalone(Path folder, Process process) {
    this.folder = folder;
    this.process = process;
  }

  static Standalone start(Path folder) throws IOException {
    Path configuration = Files.createDirectories(folder.resolve("conf"));
    Files.writeString(configuration.resolve("hbase-site.xml"), site(folder, freePort()));
    Process process =
        launcher(configuration, "master", "--localRegionServers=2", "start")
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("master.log").toFile())
            .start();
    Standalone standalone = new Standalone(folder, process);
    try {
      standalone.awaitServers();
    } catch (RuntimeException e) {
      standalone.close();
      throw e;
    }
    return standalone;
  }

  /** Runs a command of the launcher in a process of its own. */
  Invocation launch(String... arguments) throws IOException, InterruptedException {
    Path out = Files.createTempFile(folder, "out", null);
    Path err = Files.createTempFile(folder, "err", null);
    Process command =
        launcher(configuration(), arguments)
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    int code = command.waitFor();
    return new Invocation(code, Files.readString(out), Files.readString(err));
  }

  /** Runs a command in this process, which takes a fraction of the time. */
  Invocation run(String... arguments) {
    List<String> all = new ArrayList<>(settings());
    all.addAll(List.of(arguments));
    return Invocation.of(all.toArray(String[]::new));
  }

  /** Waits until it holds; fails after some minutes. */
  static void await(String what, BooleanSupplier condition) {
    Instant end = Instant.now().plus(PATIENCE);
    while (!condition.getAsBoolean()) {
      if (Instant.now().isAfter(end)) {
        throw new AssertionError("not so after " + PATIENCE + ": " + what);
      }
    }
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  private void awaitServers() {
    await(
        "master and two region servers answer; see " + folder.resolve("master.log"),
        () -> {
          if (!process.isAlive()) {
            throw new IllegalStateException("HBase ended; see " + folder.resolve("master.log"));
          }
          Invocation status = run("-o", "json", "--timeout", "5", "status");
          return status.exitCode() == 0 && status.out().split("heap_used_bytes", -1).length == 3;
        });
    await("system tables are there", () -> run("--timeout", "5", "tables").exitCode() == 0);
  }

  private Path configuration() {
    return folder.resolve("conf");
  }

  private List<String> settings() {
    try {
      String site = Files.readString(configuration().resolve("hbase-site.xml"));
      String port = site.replaceAll("(?s).*clientPort</name><value>(\\d+)<.*", "$1");
      return List.of(
          "-D",
          "hbase.zookeeper.quorum=127.0.0.1",
          "-D",
          "hbase.zookeeper.property.clientPort=" + port);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ProcessBuilder launcher(Path configuration, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(HOME.resolve("bin/hbase").toString());
    command.addAll(List.of("--config", configuration.toString()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    // Nothing of the machine's own HDFS.
    builder.environment().put("HADOOP_CONF_DIR", configuration.toString());
    builder.environment().put("HBASE_MASTER_JAVA_OPTIONS", "-Xmx700m -XX:+UseSerialGC");
    return builder;
  }

  private static String site(Path folder, int port) {
    Map<String, String> settings =
        Map.of(
            "hbase.rootdir", folder.resolve("root").toUri().toString(),
            "hbase.tmp.dir", folder.resolve("tmp").toString(),
            "hbase.unsafe.stream.capability.enforce", "false",
            "hbase.zookeeper.quorum", "127.0.0.1",
            "hbase.zookeeper.property.clientPort", Integer.toString(port),
            "hbase.localcluster.assign.random.ports", "true",
            "hbase.master.info.port", "-1",
            "hbase.regionserver.info.port", "-1",
            // What a split leaves behind goes at once, so that halves can be merged.
            "hbase.hfile.compaction.discharger.interval", "500");
    StringBuilder text = new StringBuilder("<configuration>\n");
    settings.forEach(
        (key, value) ->
            text.append("<property><name>")
                .append(key)
                .append("</name><value>")
                .append(value)
                .append("</value></property>\n"));
    return text.append("</configuration>\n").toString();
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
