package dev.sluice.client;

import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.ServerSocket;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** An agent that takes reports of clients of HBase: a process of the program {@code sluice}. */
final class Agent {
  private static final String CLIENTS =
      """
      clients:
        socket: %s
        stores: [hbase, cassandra]
      """;

  private static final char[] PASSWORD = "test".toCharArray();

  private final Path folder;
  private final String program;
  private final int[] ports = freePorts();
  private Process process;

  /**
   * Makes it without starting it.
   *
   * @param folder for its files; with a short path, for the socket
   * @param program path of {@code sluice}
   */
  Agent(Path folder, String program) throws Exception {
    this.folder = folder;
    this.program = program;
    openssl(
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=ca -keyout ca.key"
            + " -days 2 -out ca.crt");
    certificate("web-1", "agent");
    certificate("test", "viewer");
    openssl("pkcs12 -export -in test.crt -inkey test.key -passout pass:test -out test.p12");
    Files.createDirectories(folder.resolve("sockets"));
    Files.writeString(
        folder.resolve("agent.yml"),
        """
        cluster: test
        node: web-1
        listen: 127.0.0.1:%1$d
        metrics_listen: 127.0.0.1:%2$d
        tls: {certificate_file: %3$s/web-1.crt, key_file: %3$s/web-1.key, ca_file: %3$s/ca.crt}
        socket_directory: %3$s/sockets
        """
                .formatted(ports[0], ports[1], folder)
            + CLIENTS.formatted(socket()));
  }

  Path socket() {
    return folder.resolve("agent.sock");
  }

  private static int[] freePorts() throws IOException {
    try (ServerSocket one = new ServerSocket(0);
        ServerSocket other = new ServerSocket(0)) {
      return new int[] {one.getLocalPort(), other.getLocalPort()};
    }
  }

  private void certificate(String name, String role) throws Exception {
    Files.writeString(
        folder.resolve(name + ".ext"),
        """
        subjectAltName=URI:sluice://test/%s/%s
        extendedKeyUsage=clientAuth,serverAuth
        keyUsage=digitalSignature
        """
            .formatted(role, name));
    openssl(
        ("req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=%1$s"
                + " -keyout %1$s.key -out %1$s.csr")
            .formatted(name));
    openssl(
        ("x509 -req -in %1$s.csr -extfile %1$s.ext -CA ca.crt -CAkey ca.key -CAcreateserial"
                + " -days 2 -out %1$s.crt")
            .formatted(name));
  }

  private void openssl(String arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of("openssl"));
    command.addAll(Arrays.asList(arguments.split(" ")));
    run(command);
  }

  private String run(List<String> command) throws Exception {
    Path output = folder.resolve("output");
    Process started =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    if (started.waitFor() != 0) {
      throw new IOException(command + ": " + Files.readString(output));
    }
    return Files.readString(output);
  }

  void start() throws IOException {
    process =
        new ProcessBuilder(program, "agent", "--config", folder.resolve("agent.yml").toString())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(folder.resolve("log").toFile()))
            .start();
  }

  /** Ends it as a crash does: it says goodbye to nobody, and leaves its socket. */
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  void signal(String name) throws Exception {
    run(List.of("kill", "-" + name, String.valueOf(process.pid())));
  }

  /** A sample of its metrics; 0 where there is none, or no agent. */
  double metric(String sample) throws Exception {
    HttpsURLConnection connection =
        (HttpsURLConnection) new URL("https://127.0.0.1:" + ports[1] + "/metrics").openConnection();
    connection.setSSLSocketFactory(asViewer().getSocketFactory());
    // Its certificate is for a name in a cluster, and for no host.
    connection.setHostnameVerifier((host, session) -> true);
    try (InputStream answer = connection.getInputStream()) {
      return new String(answer.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> line.startsWith(sample + " "))
          .mapToDouble(line -> Double.parseDouble(line.substring(sample.length() + 1)))
          .findFirst()
          .orElse(0);
    } catch (ConnectException notThere) {
      return 0;
    }
  }

  private SSLContext asViewer() throws Exception {
    KeyStore own = KeyStore.getInstance(folder.resolve("test.p12").toFile(), PASSWORD);
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(own, PASSWORD);
    KeyStore authorities = KeyStore.getInstance("PKCS12");
    authorities.load(null);
    try (InputStream authority = Files.newInputStream(folder.resolve("ca.crt"))) {
      authorities.setCertificateEntry(
          "ca", CertificateFactory.getInstance("X.509").generateCertificate(authority));
    }
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(authorities);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
    return context;
  }

  String log() throws IOException {
    return Files.readString(folder.resolve("log"));
  }
}
