package dev.sluice.ycsb.postgres;

import dev.sluice.ycsb.contract.FreePorts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;

/**
 * A real server with a new cluster, on a free loopback port, for tests. The locale sorts otherwise
 * than by byte, and the password is asked for, so that neither is tested by accident.
 */
public final class PostgresServer implements AutoCloseable {
  /** Superuser of the cluster. */
  public static final String USER = "ycsb";

  /** Password of {@link #USER}. */
  public static final String PASSWORD = "se:cret";

  private final Path home;
  private final Path directory;
  private final List<String> asUser;
  private final int port;

  private PostgresServer(Path home, Path directory, String user, int port) {
    this.home = home;
    this.directory = directory;
    this.port = port;
    asUser = user == null ? List.of() : List.of("runuser", "-u", user, "--");
  }

  /**
   * Makes a cluster and starts its server.
   *
   * @throws IllegalStateException when no installation is named, or it does not work
   */
  public static PostgresServer start() throws IOException {
    Path home = home();
    Path directory = Files.createTempDirectory("sluice-ycsb-");
    String user = serverUser(directory);
    PostgresServer server = new PostgresServer(home, directory, user, FreePorts.one());
    server.initdb();
    server.startAgain();
    return server;
  }

  /** For {@code postgres.url}. */
  public String url() {
    return "jdbc:postgresql://127.0.0.1:" + port + "/postgres";
  }

  /** Settings that reach this server. */
  public Properties settings() {
    Properties properties = new Properties();
    properties.setProperty("postgres.url", url());
    properties.setProperty("postgres.user", USER);
    properties.setProperty("postgres.password", PASSWORD);
    return properties;
  }

  /** The line that lets the driver in, for a passfile. */
  public String passfileLine() {
    return "127.0.0.1:" + port + ":postgres:" + USER + ":" + PASSWORD.replace(":", "\\:");
  }

  /** The first column of the first row. */
  public String query(String sql) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url(), USER, PASSWORD);
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getString(1);
    }
  }

  /** Runs a statement that returns no rows. */
  public void execute(String sql) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url(), USER, PASSWORD);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** Ends the server as a crash does. */
  public void crash() throws IOException {
    pgCtl("-m", "immediate", "stop");
  }

  /** Starts the server on its port and waits until it lets clients in. */
  public void startAgain() throws IOException {
    pgCtl("-l", directory.resolve("log").toString(), "start");
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
    String home = System.getProperty("postgres.home", "");
    if (home.isEmpty()) {
      home = System.getenv().getOrDefault("POSTGRES_HOME", "");
    }
    if (home.isEmpty() || !Files.isExecutable(Path.of(home, "bin", "initdb"))) {
      throw new IllegalStateException(
          "no PostgreSQL in '"
              + home
              + "': these tests need a real server; name an installation"
              + " with bin/initdb by -Dpostgres.home=DIR or POSTGRES_HOME");
    }
    return Path.of(home);
  }

  /** The server refuses to run as root; then it runs as postgres, or as nobody. */
  private static String serverUser(Path directory) throws IOException {
    if (!"root".equals(System.getProperty("user.name"))) {
      return null;
    }
    UserPrincipal user = lookUp("postgres");
    if (user == null) {
      user = lookUp("nobody");
    }
    Files.setOwner(directory, user);
    return user.getName();
  }

  private static UserPrincipal lookUp(String user) throws IOException {
    try {
      return Path.of("/")
          .getFileSystem()
          .getUserPrincipalLookupService()
          .lookupPrincipalByName(user);
    } catch (UserPrincipalNotFoundException e) {
      return null;
    }
  }

  private void initdb() throws IOException {
    Path password = directory.resolve("password");
    Files.writeString(password, PASSWORD);
    Files.setPosixFilePermissions(password, PosixFilePermissions.fromString("rw-r--r--"));
    execute(
        List.of(
            home.resolve("bin/initdb").toString(),
            "--pgdata=" + directory.resolve("data"),
            "--username=" + USER,
            "--auth=scram-sha-256",
            "--pwfile=" + password,
            "--encoding=UTF8",
            "--locale=C",
            "--locale-provider=icu",
            "--icu-locale=en-US",
            "--no-sync"));
    String settings =
        String.join(
            "\n",
            "listen_addresses = '127.0.0.1'",
            "port = " + port,
            "unix_socket_directories = '" + directory + "'",
            "fsync = off",
            "shared_buffers = 32MB",
            "");
    Files.writeString(directory.resolve("data/postgresql.auto.conf"), settings);
  }

  private void pgCtl(String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(home.resolve("bin/pg_ctl").toString());
    command.addAll(List.of("-w", "-t", "600", "-D", directory.resolve("data").toString()));
    command.addAll(List.of(arguments));
    execute(command);
  }

  private void execute(List<String> program) throws IOException {
    List<String> command = new ArrayList<>(asUser);
    command.addAll(program);
    // A file, because a server that is started would keep a pipe open.
    Path output = Files.createTempFile("sluice-ycsb-", ".out");
    Process process =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    int code = process.onExit().join().exitValue();
    String text = Files.readString(output, StandardCharsets.UTF_8);
    Files.delete(output);
    if (code != 0) {
      throw new IllegalStateException(
          String.join(" ", command)
              + " ended with "
              + code
              + " (can the user of the server read "
              + home
              + "?):\n"
              + text);
    }
  }
}
