package dev.sluice.hbase.commands;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.client.Admin;

/** Finds region servers by what people call them. */
final class Servers {
  private Servers() {}

  /** The live region server called HOST, HOST:PORT or HOST,PORT,STARTCODE. */
  static ServerName find(Admin admin, String name) throws IOException {
    Collection<ServerName> live = admin.getRegionServers();
    List<ServerName> found = live.stream().filter(server -> isCalled(server, name)).toList();
    if (found.size() == 1) {
      return found.get(0);
    }
    String names =
        new TreeSet<>(live).stream().map(ServerName::toString).collect(Collectors.joining(", "));
    throw new CommandFailure(
        (found.isEmpty() ? "there is no" : "there is more than one") + " region server " + name,
        "choose one of: " + (names.isEmpty() ? "none is there" : names));
  }

  static boolean isCalled(ServerName server, String name) {
    return name.equals(server.toString())
        || name.equals(server.getHostname())
        || name.equals(server.getHostname() + ':' + server.getPort());
  }
}
