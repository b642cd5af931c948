package dev.sluice.hbase;

import dev.sluice.local.protocol.ProtocolClient;
import java.io.IOException;

/** Orders about where edits go, until they are cleared. */
final class TierOrders {
  private static final String ORDER =
      "{'kind':'log-placement','scope':'','setting':{'name':'%s',%s},"
          + "'owner':'test','time_to_live_seconds':"
          + ProtocolClient.LONG_SECONDS
          + "}";

  private TierOrders() {}

  static void tier(ProtocolClient client, String tier) throws IOException {
    client.call("set", ORDER.formatted("tier", "'text':'" + tier + "'"));
  }

  static void number(ProtocolClient client, String name, double number) throws IOException {
    client.call("set", ORDER.formatted(name, "'number':" + number));
  }
}
