package dev.sluice.hbase.offload;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/**
 * The agent of the region server's node, and one of a node that does its compactions: processes of
 * the program {@code sluice}, which start the worker as it is installed.
 */
final class TwoAgents {
  private static final String STORE_NODE = "rs-1";
  private static final String WORKER_NODE = "rs-2";

  /** A file that is not there. */
  private static final OffloadOutcome LIE =
      new OffloadOutcome(List.of(new OffloadOutcome.OutputFile("abcdef", 7, 1)), 1, 7);

  private final Path folder;
  private final String program;
  private final String root;
  private final int[] ports = freePorts(4);
  private Process storeAgent;
  private Process workerAgent;

  /**
   * Makes them without starting them.
   *
   * @param folder for their files; with a short path, for the socket
   * @param program path of {@code sluice}
   */
  TwoAgents(Path folder, String program, String root) throws Exception {
    this.folder = folder;
    this.program = program;
    this.root = root;
    authority();
    certificate(STORE_NODE);
    certificate(WORKER_NODE);
    install();
  }

  Path socket() {
    return folder.resolve("c.sock");
  }

  private static int[] freePorts(int count) throws IOException {
    List<ServerSocket> sockets = new ArrayList<>();
    for (int each = 0; each < count; each++) {
      sockets.add(new ServerSocket(0));
    }
    int[] ports = sockets.stream().mapToInt(ServerSocket::getLocalPort).toArray();
    for (ServerSocket socket : sockets) {
      socket.close();
    }
    return ports;
  }

  private void authority() throws Exception {
    openssl(
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=%1$s"
            + " -keyout %1$s.key -days 2 -out %1$s.crt",
        "ca");
  }

  private void certificate(String node) throws Exception {
    Files.writeString(
        folder.resolve(node + ".ext"),
        """
        subjectAltName=URI:sluice://test/agent/%s
        extendedKeyUsage=clientAuth,serverAuth
        keyUsage=digitalSignature
        """
            .formatted(node));
    openssl(
        "req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=%1$s"
            + " -keyout %1$s.key -out %1$s.csr",
        node);
    openssl(
        "x509 -req -in %1$s.csr -extfile %1$s.ext -CA ca.crt -CAkey ca.key -CAcreateserial"
            + " -days 2 -out %1$s.crt",
        node);
  }

  private void openssl(String form, String name) throws Exception {
    List<String> command = new ArrayList<>(List.of("openssl"));
    command.addAll(Arrays.asList(form.formatted(name).split(" ")));
    Path output = folder.resolve("openssl.log");
    Process process =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    if (process.waitFor() != 0) {
      throw new IOException(Files.readString(output));
    }
  }

  /** The worker's program as packages have it; its jars are those of this test. */
  private void install() throws IOException {
    Path prefix = folder.resolve("prefix");
    script(
        prefix.resolve("bin/hbase"),
        Files.readString(Path.of("../../build/stores/hbase/distribution/tree/bin/hbase")));
    script(
        prefix.resolve("plugins/sluice-hbase-compact"),
        Files.readString(Path.of("bin/sluice-hbase-compact")));
    Path conf = Files.createDirectories(folder.resolve("conf"));
    Files.writeString(conf.resolve("hbase-site.xml"), "<configuration></configuration>\n");
    String jars =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    script(
        folder.resolve("worker"),
        """
        #!/bin/sh
        echo $$ >'%1$s/worker.pid'
        if [ -e '%1$s/lie' ]; then
          echo '{"started":{"protocol_version":{"major":1,"minor":0},%5$s}}'
          read -r job
          echo '{"result":{"result":"%6$s","bytes_read":1,"bytes_written":1,"open_seconds":0,"cpu_seconds":0}}'
          exit 0
        fi
        export JAVA_HOME='%2$s' HBASE_CONF_DIR='%1$s/conf' HADOOP_CONF_DIR='%1$s/conf'
        export HADOOP_USER_NAME='%3$s' CLASSPATH_LAST='%4$s'
        exec '%1$s/prefix/plugins/sluice-hbase-compact'
        """
            .formatted(
                folder,
                System.getProperty("java.home"),
                System.getProperty("user.name"),
                jars,
                "\"hbase_version\":{\"major\":2,\"minor\":6,\"patch\":4}",
                Base64.getEncoder().encodeToString(LIE.encode())));
  }

  private static void script(Path path, String text) throws IOException {
    Files.createDirectories(path.getParent());
    Files.writeString(path, text);
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  void start() throws IOException {
    startStoreAgent();
    startWorkerAgent();
  }

  void startStoreAgent() throws IOException {
    storeAgent =
        agent(
            STORE_NODE,
            0,
            """
            compaction:
              client:
                socket: %s
                peers: [{node: %s, address: "127.0.0.1:%d"}]
                threshold_share: -1
                minimum_input_bytes: 0
            """
                .formatted(socket(), WORKER_NODE, ports[2]));
  }

  void startWorkerAgent() throws IOException {
    workerAgent =
        agent(
            WORKER_NODE,
            2,
            """
            compaction:
              worker:
                programs: [{hbase_series: "2.6", path: %1$s/worker}]
                hbase_roots: ["%2$s"]
                state_directory: %1$s/state
                slots: 1
                nice: 0
                free_bytes: 0
            """
                .formatted(folder, root));
  }

  private Process agent(String node, int port, String more) throws IOException {
    Path file = folder.resolve(node + ".yml");
    Files.writeString(
        file,
        """
        cluster: test
        node: %1$s
        listen: 127.0.0.1:%2$d
        metrics_listen: 127.0.0.1:%3$d
        tls: {certificate_file: %4$s/%1$s.crt, key_file: %4$s/%1$s.key, ca_file: %4$s/ca.crt}
        socket_directory: %4$s/sockets-%1$s
        """
                .formatted(node, ports[port], ports[port + 1], folder)
            + more);
    Files.createDirectories(folder.resolve("sockets-" + node));
    return new ProcessBuilder(program, "agent", "--config", file.toString())
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.appendTo(log(node).toFile()))
        .start();
  }

  private Path log(String node) {
    return folder.resolve(node + ".log");
  }

  /** What the agents have said, for a test that fails. */
  String logs() throws IOException {
    return Files.readString(log(STORE_NODE)) + Files.readString(log(WORKER_NODE));
  }

  void killStoreAgent() throws InterruptedException {
    storeAgent.destroyForcibly().waitFor();
  }

  /** Whether workers say that they have written what they have not. */
  void lie(boolean lies) throws IOException {
    Path file = folder.resolve("lie");
    if (lies) {
      Files.createFile(file);
    } else {
      Files.delete(file);
    }
  }

  /** The worker that was started last, if it is still there. */
  Optional<ProcessHandle> worker() throws IOException {
    Path file = folder.resolve("worker.pid");
    if (!Files.exists(file) || Files.readString(file).isBlank()) {
      return Optional.empty();
    }
    return ProcessHandle.of(Long.parseLong(Files.readString(file).strip()))
        .filter(ProcessHandle::isAlive);
  }

  static void signal(ProcessHandle process, String name) throws Exception {
    new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid())).start().waitFor();
  }

  /** What the agent of the worker's node has on its own disk for jobs: notes and folders. */
  int localFiles() {
    return entries("compactions") + entries("compaction-scratch");
  }

  private int entries(String name) {
    String[] found = folder.resolve("state").resolve(name).toFile().list();
    return found == null ? 0 : found.length;
  }

  void end() throws InterruptedException {
    for (Process agent : List.of(storeAgent, workerAgent)) {
      agent.destroyForcibly().waitFor();
    }
  }
}
