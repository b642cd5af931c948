package dev.sluice.ycsb.ignite;

import java.util.logging.Level;
import java.util.logging.Logger;
import org.apache.ignite.client.IgniteClient;
import org.apache.ignite.lang.IgniteException;

/** Opens connections of Ignite's client, and keeps its log to errors. */
final class Connector {
  /** Held, because a logger that nobody holds forgets its level. */
  private static final Logger CLIENT_LOG = Logger.getLogger("org.apache.ignite");

  static {
    if (System.getProperty("java.util.logging.config.file") == null) {
      CLIENT_LOG.setLevel(Level.SEVERE);
    }
  }

  private Connector() {}

  /**
   * Connects to all nodes that are named and answer.
   *
   * @throws IgniteException when none answers in time
   */
  static IgniteClient connect(IgniteSettings settings) {
    return IgniteClient.builder()
        .addresses(settings.addresses().toArray(String[]::new))
        .connectTimeout(settings.timeoutMilliseconds())
        .operationTimeout(settings.timeoutMilliseconds())
        .build();
  }

  /** What to tell a user whose connection failed. */
  static String cannotConnect(IgniteSettings settings, IgniteException e) {
    return "cannot connect to Ignite at "
        + String.join(",", settings.addresses())
        + ": "
        + e.getMessage()
        + "; check that the nodes run and are a cluster (ignite status), and that "
        + IgniteSettings.ADDRESSES.name()
        + " names their client connectors";
  }
}
