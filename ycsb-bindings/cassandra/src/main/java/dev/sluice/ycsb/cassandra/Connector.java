package dev.sluice.ycsb.cassandra;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.metadata.Node;
import dev.sluice.ycsb.SettingException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Opens sessions of the driver. */
final class Connector {
  // Until a node that was away is tried again, at most: the driver's own is a minute.
  private static final Duration LONGEST_RECONNECTION = Duration.ofSeconds(5);

  private Connector() {}

  /**
   * Connects to the nodes that are named, and to those that they name.
   *
   * @throws DriverException when none answers
   * @throws SettingException for a name that has no address, and a datacenter without nodes
   */
  static CqlSession connect(CassandraSettings settings) {
    Duration timeout = Duration.ofMillis(settings.timeoutMilliseconds());
    DriverConfigLoader options =
        DriverConfigLoader.programmaticBuilder()
            .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, timeout)
            .withDuration(DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, timeout)
            .withDuration(DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, timeout)
            .withDuration(DefaultDriverOption.RECONNECTION_MAX_DELAY, LONGEST_RECONNECTION)
            .build();
    CqlSession session =
        CqlSession.builder()
            .withConfigLoader(options)
            .addContactPoints(contacts(settings))
            .withLocalDatacenter(settings.datacenter())
            .build();
    refuseWrongDatacenter(session, settings.datacenter());
    return session;
  }

  /** The driver connects all the same, and then has no node for any request. */
  private static void refuseWrongDatacenter(CqlSession session, String wanted) {
    Set<String> there =
        session.getMetadata().getNodes().values().stream()
            .map(Node::getDatacenter)
            .collect(Collectors.toCollection(TreeSet::new));
    if (!there.contains(wanted)) {
      session.close();
      throw new SettingException(
          CassandraSettings.DATACENTER.name() + "=" + wanted + " has no node; use one of " + there);
    }
  }

  private static List<InetSocketAddress> contacts(CassandraSettings settings) {
    return settings.addresses().stream().map(Connector::contact).toList();
  }

  private static InetSocketAddress contact(String address) {
    int colon = address.lastIndexOf(':');
    try {
      InetSocketAddress contact =
          new InetSocketAddress(
              address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
      if (!contact.isUnresolved()) {
        return contact;
      }
    } catch (IllegalArgumentException e) {
      // Reported below, as a name without an address is.
    }
    throw new SettingException(
        CassandraSettings.ADDRESSES.name() + ": " + address + " has no address, or no such port");
  }

  /** What to tell a user whose connection failed. */
  static String cannotConnect(CassandraSettings settings, RuntimeException e) {
    return "cannot connect to Cassandra at "
        + String.join(",", settings.addresses())
        + ": "
        + e.getMessage()
        + "; check that the nodes run (nodetool status), that "
        + CassandraSettings.ADDRESSES.name()
        + " names their native transports, and "
        + CassandraSettings.DATACENTER.name()
        + " their datacenter";
  }
}
