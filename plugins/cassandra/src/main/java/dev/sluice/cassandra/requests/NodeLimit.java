package dev.sluice.cassandra.requests;

import dev.sluice.local.lease.Setting;
import org.apache.cassandra.service.StorageService;

/**
 * Cassandra's own bound of the requests of all clients of a node. A client that has not asked for
 * errors when the node is overloaded is not read from for a while.
 */
record NodeLimit(boolean isOn, int requestsPerSecond) {
  // What Cassandra's limiter takes.
  private static final double MOST = 1e9;

  static NodeLimit current() {
    StorageService node = StorageService.instance;
    return new NodeLimit(
        node.getNativeTransportRateLimitingEnabled(),
        node.getNativeTransportMaxRequestsPerSecond());
  }

  static NodeLimit of(Setting setting) {
    return new NodeLimit(true, (int) Math.min(setting.number(), MOST));
  }

  /**
   * The node's own bound when somebody else has set a part of it while another was ordered: who
   * switches it off says nothing of the number, which is the order's.
   */
  static NodeLimit changed(NodeLimit now, NodeLimit ordered, NodeLimit before) {
    boolean isSwitchedOff = !now.isOn && now.requestsPerSecond == ordered.requestsPerSecond;
    return isSwitchedOff ? new NodeLimit(false, before.requestsPerSecond) : now;
  }

  void apply() {
    StorageService node = StorageService.instance;
    if (node.getNativeTransportMaxRequestsPerSecond() != requestsPerSecond) {
      node.setNativeTransportMaxRequestsPerSecond(requestsPerSecond);
    }
    node.setNativeTransportRateLimitingEnabled(isOn);
  }

  /** 0 for no bound. */
  int effective() {
    return isOn ? requestsPerSecond : 0;
  }
}
