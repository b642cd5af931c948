package dev.sluice.ycsb.hbase;

import dev.sluice.ycsb.contract.FreePorts;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * A real HBase for tests: master, region server and ZooKeeper in one process, as HBase calls it
 * standalone, on free loopback ports and the local file system.
 */
public final class HBaseServer implements AutoCloseable {
  private static final String READY = "Master has completed initialization";
  private static final int START_SECONDS = 900;
  private static final int LAST_LINES = 40;

  private final Path libraries;
  private final Path directory;
  private final int port;
  private Process process;

  private HBaseServer(Path libraries, Path directory, int port) {
    this.libraries = libraries;
    this.directory = directory;
    this.port = port;
  }

  /**
   * Starts a server without tables.
   *
   * @throws IllegalStateException when its jars are not there, or it does not start
   */
  public static HBaseServer start() throws IOException {
    HBaseServer server =
        new HBaseServer(libraries(), Files.createTempDirectory("sluice-ycsb-"), FreePorts.one());
    server.configure();
    server.startAgain();
    return server;
  }

  /** Settings that reach this server. */
  public Properties settings() {
    Properties properties = new Properties();
    properties.setProperty("hbase.zookeeper.quorum", "127.0.0.1:" + port);
    return properties;
  }

  /** Ends the server as a crash does. */
  public void crash() {
    process.destroyForcibly().onExit().join();
  }

  /** Starts the server on its data and waits until it is ready. */
  public void startAgain() throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // Most of what it does here is to start.
    command.addAll(List.of("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    // A crash of the process is part of the tests, one of the machine is not: no disk is waited
    // for.
    command.add("-Dzookeeper.forceSync=no");
    command.add("--add-opens=java.base/java.lang=ALL-UNNAMED");
    command.add("--add-opens=java.base/java.nio=ALL-UNNAMED");
    command.addAll(List.of("-cp", directory.resolve("conf") + ":" + libraries.resolve("*")));
    command.addAll(List.of("org.apache.hadoop.hbase.master.HMaster", "start"));
    process =
        new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true).start();
    CompletableFuture<Void> ready = new CompletableFuture<>();
    Thread reader = new Thread(() -> read(process.inputReader(), ready), "hbase-output");
    reader.setDaemon(true);
    reader.start();
    try {
      ready.get(START_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException | TimeoutException e) {
      crash();
      throw new IllegalStateException("HBase did not start in " + START_SECONDS + " s: " + e, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
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

  /** To the end of the process, which would stop on a full pipe. */
  private static void read(BufferedReader output, CompletableFuture<Void> ready) {
    Deque<String> last = new ArrayDeque<>();
    try (output) {
      String line;
      while ((line = output.readLine()) != null) {
        if (line.contains(READY)) {
          ready.complete(null);
        }
        last.add(line);
        if (last.size() > LAST_LINES) {
          last.remove();
        }
      }
    } catch (IOException e) {
      last.add(e.toString());
    }
    ready.completeExceptionally(new IOException("it ended:\n" + String.join("\n", last)));
  }

  private static Path libraries() {
    Path libraries = Path.of(System.getProperty("sluice.hbase.server", ""));
    if (!Files.isDirectory(libraries)) {
      throw new IllegalStateException(
          "no jars of HBase's server in '"
              + libraries
              + "': these tests need a real server; the module hbase-server of ycsb-bindings"
              + " puts them there when it is built");
    }
    return libraries;
  }

  private void configure() throws IOException {
    Path conf = Files.createDirectory(directory.resolve("conf"));
    StringBuilder site = new StringBuilder("<configuration>\n");
    configuration()
        .forEach(
            (name, value) ->
                site.append("<property><name>" + name + "</name><value>" + value)
                    .append("</value></property>\n"));
    Files.writeString(conf.resolve("hbase-site.xml"), site.append("</configuration>\n"));
    Files.writeString(
        conf.resolve("log4j.properties"),
        String.join(
            "\n",
            "log4j.rootLogger=INFO,out",
            "log4j.appender.out=org.apache.log4j.ConsoleAppender",
            "log4j.appender.out.layout=org.apache.log4j.PatternLayout",
            "log4j.appender.out.layout.ConversionPattern=%d{ISO8601} %p %c{1}: %m%n",
            ""));
  }

  private Map<String, String> configuration() {
    Map<String, String> site = new LinkedHashMap<>();
    site.put("hbase.rootdir", directory.resolve("data").toUri().toString());
    site.put("hbase.tmp.dir", directory.resolve("tmp").toString());
    // What is synced is in the file when the process dies; with checksums it would not be.
    site.put("fs.file.impl", "org.apache.hadoop.fs.RawLocalFileSystem");
    site.put("hbase.unsafe.stream.capability.enforce", "false");
    site.put("hbase.wal.provider", "filesystem");
    site.put("hbase.master.store.region.wal.hsync", "false");
    // Three files would be merged without being asked for.
    site.put("hbase.hstore.compaction.min", "100");
    site.put("hbase.zookeeper.quorum", "127.0.0.1");
    site.put("hbase.zookeeper.property.clientPort", Integer.toString(port));
    site.put("hbase.master.hostname", "localhost");
    site.put("hbase.regionserver.hostname", "localhost");
    for (String name : List.of("hbase.master", "hbase.regionserver")) {
      site.put(name + ".port", "0");
      site.put(name + ".info.port", "-1");
    }
    return site;
  }
}
