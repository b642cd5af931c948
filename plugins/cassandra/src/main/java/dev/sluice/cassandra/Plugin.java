package dev.sluice.cassandra;

import dev.sluice.cassandra.cache.CachePart;
import dev.sluice.cassandra.compaction.CompactionPart;
import dev.sluice.cassandra.latency.LatencyReports;
import dev.sluice.cassandra.requests.RequestsPart;
import dev.sluice.cassandra.streaming.StreamingPart;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.plugin.Guarded;
import dev.sluice.local.plugin.PluginSocket;
import dev.sluice.local.plugin.PluginTicker;
import dev.sluice.local.plugin.Store;
import dev.sluice.local.protocol.Scopes;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.cassandra.service.StorageService;
import org.apache.cassandra.utils.FBUtilities;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The plug-in of one node: its socket, and what time changes. */
final class Plugin {
  /** Names the instance, and so the socket; the launcher gives it the name of the configuration. */
  static final String INSTANCE_KEY = "sluice.cassandra.instance";

  private static final Logger LOG = LoggerFactory.getLogger(Plugin.class);
  private static final String SCOPES =
      "Scopes are \"\", the node; of compaction, cache and requests KEYSPACE.TABLE, but none of the"
          + " system's; of cache key-cache, row-cache and counter-cache as well.";

  private final LeaseStore leases = new LeaseStore(System::nanoTime);
  private CompactionPart compactions;
  private CachePart caches;
  private StreamingPart streams;
  private RequestsPart requests;
  private LatencyReports latencies;
  private PluginSocket socket;
  private boolean closed;

  /** Serves the socket until the node drains or ends. */
  void start(UnaryOperator<String> configuration) {
    compactions = new CompactionPart(leases, configuration);
    caches = new CachePart(leases, configuration);
    streams = new StreamingPart(leases);
    requests = new RequestsPart(leases);
    latencies = new LatencyReports();
    Store store = Store.of("cassandra", FBUtilities.getReleaseVersionString(), Plugin.class);
    socket =
        new PluginSocket(
            store,
            leases,
            List.of(compactions, caches, streams, requests),
            List.of(latencies),
            new Scopes(Plugin::exists, SCOPES));
    // It refuses when the node drains already; the ticker sees that.
    StorageService.instance.addPreShutdownHook(this::close);
    PluginTicker.start(leases, this::tick, this::isStopping, this::close);
    leases.addListener(this::tick);
    socket.serve(configuration, INSTANCE_KEY, "main");
  }

  private static boolean exists(Scope scope) {
    return Scope.SERVER.equals(scope)
        || CachePart.hasScope(scope)
        || Tables.find(scope).isPresent();
  }

  private boolean isStopping() {
    return StorageService.instance.isDraining() || StorageService.instance.isDrained();
  }

  private synchronized void tick() {
    if (closed) {
      return;
    }
    Guarded.call("compactions", compactions::tick);
    followOthers();
    Guarded.call("latencies", latencies::tick);
  }

  private void followOthers() {
    Guarded.call("caches", caches::tick);
    Guarded.call("streams", streams::tick);
    Guarded.call("requests", requests::tick);
  }

  private void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      Guarded.call("a listener to leases", () -> leases.end(lease -> true));
      Guarded.call("compactions", compactions::close);
      followOthers();
    }
    socket.close();
    LOG.info("the node drains: every order has ended");
  }
}
