package dev.sluice.ycsb.postgres;

import dev.sluice.ycsb.Setting;
import dev.sluice.ycsb.SettingException;
import dev.sluice.ycsb.SettingValues;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.Set;
import org.postgresql.PGProperty;

/** How to reach the server, and how to talk to it. */
record PostgresSettings(
    String url,
    String user,
    String password,
    String passfile,
    int prepareThreshold,
    int batchSize,
    boolean upsert,
    int timeoutMilliseconds) {
  private static final Setting URL =
      Setting.of("postgres.url", "", "jdbc:postgresql://HOST:PORT/DATABASE; must be set");
  private static final Setting USER = Setting.of("postgres.user", "", "role; must be set");
  private static final Setting PASSWORD =
      Setting.secret("postgres.password", "password; better kept in a passfile");
  private static final Setting PASSFILE =
      Setting.of(
          "postgres.passfile",
          "",
          "file of lines host:port:database:user:password, mode 0600; else ~/.pgpass");
  private static final Setting PREPARE_THRESHOLD =
      Setting.of(
          "postgres.preparethreshold",
          "1",
          "uses of a statement before the server keeps it prepared; 0 = never");
  private static final Setting BATCH_SIZE =
      Setting.of("postgres.batchsize", "1", "inserts that are sent together, in one transaction");
  private static final Setting UPSERT =
      Setting.of("postgres.upsert", "false", "an insert of a key that exists overwrites it");

  private static final Setting TIMEOUT =
      Setting.of(
          "postgres.timeoutmilliseconds",
          "60000",
          "how long a load or run waits for a silent server, in whole seconds; 0 = for ever");

  /** The driver takes the file from a property of the process only. */
  private static final String DRIVER_PASSFILE = "org.postgresql.pgpassfile";

  private static final Set<String> SECRET_PARAMETERS = Set.of("password", "sslpassword");
  private static final String PREFIX = "jdbc:postgresql:";
  private static final Set<PosixFilePermission> PRIVATE =
      EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);

  static List<Setting> all() {
    return List.of(URL, USER, PASSWORD, PASSFILE, PREPARE_THRESHOLD, BATCH_SIZE, UPSERT, TIMEOUT);
  }

  /**
   * Reads the settings.
   *
   * @throws SettingException for a missing or wrong one
   */
  static PostgresSettings of(Properties properties) {
    SettingValues values = new SettingValues(properties);
    PostgresSettings settings =
        new PostgresSettings(
            values.required(URL, "jdbc:postgresql://localhost:5432/ycsb"),
            values.required(USER, "ycsb"),
            properties.getProperty(PASSWORD.name()),
            properties.getProperty(PASSFILE.name()),
            values.number(PREPARE_THRESHOLD, 0),
            values.number(BATCH_SIZE, 1),
            values.bool(UPSERT),
            values.number(TIMEOUT, 0));
    settings.check();
    return settings;
  }

  /** Opens a connection in autocommit mode, whose operations have a time-out. */
  Connection connect() throws SQLException {
    Properties properties = new Properties();
    PGProperty.SOCKET_TIMEOUT.set(properties, timeoutSeconds());
    return connect(properties);
  }

  /** As the driver counts it, for which 0 has no end. */
  int timeoutSeconds() {
    return (int) Math.ceil(timeoutMilliseconds / 1000.0);
  }

  /** The same without a time-out, for what takes as long as the table is large. */
  Connection connectForStep() throws SQLException {
    return connect(new Properties());
  }

  private Connection connect(Properties properties) throws SQLException {
    PGProperty.USER.set(properties, user);
    PGProperty.APPLICATION_NAME.set(properties, "sluice-ycsb");
    PGProperty.PREPARE_THRESHOLD.set(properties, prepareThreshold);
    PGProperty.TCP_KEEP_ALIVE.set(properties, true);
    if (password != null) {
      PGProperty.PASSWORD.set(properties, password);
    }
    if (passfile != null) {
      System.setProperty(DRIVER_PASSFILE, passfile);
    }
    return DriverManager.getConnection(url, properties);
  }

  /** What to tell a user whose connection failed. */
  String cannotConnect(SQLException e) {
    return "cannot connect to "
        + url
        + " as "
        + user
        + ": "
        + e.getMessage()
        + "; check that the server runs, that pg_hba.conf lets the role in, and the password";
  }

  private void check() {
    checkParameters();
    if (!url.startsWith(PREFIX)) {
      throw new SettingException(
          URL.name()
              + "="
              + url
              + " does not start with "
              + PREFIX
              + "; write it like jdbc:postgresql://localhost:5432/ycsb");
    }
    if (password != null && passfile != null) {
      throw new SettingException("set either " + PASSWORD.name() + " or " + PASSFILE.name());
    }
    if (passfile != null) {
      checkPassfile(Path.of(passfile));
    }
  }

  /** Before anything that shows the URL, which is also recorded with each run. */
  private void checkParameters() {
    for (String parameter : url.substring(url.indexOf('?') + 1).split("&")) {
      String name = parameter.split("=", 2)[0].trim().toLowerCase(Locale.ROOT);
      if (SECRET_PARAMETERS.contains(name)) {
        throw new SettingException(
            URL.name()
                + " holds the secret "
                + name
                + ", and is recorded with each run; give a password by "
                + PASSWORD.name()
                + " or "
                + PASSFILE.name()
                + ", and a client's key without one");
      }
    }
  }

  /** The driver would go on without a password, and the server would then refuse it. */
  private static void checkPassfile(Path file) {
    if (!Files.isReadable(file)) {
      throw new SettingException(
          PASSFILE.name()
              + "="
              + file
              + " cannot be read; make it with lines of"
              + " host:port:database:user:password");
    }
    try {
      if (!PRIVATE.containsAll(Files.getPosixFilePermissions(file))) {
        throw new SettingException(file + " can be read by others; chmod 0600 " + file);
      }
    } catch (IOException e) {
      throw new SettingException("cannot look at " + file + ": " + e.getMessage());
    }
  }
}
