package dev.sluice.hbase.requests;

import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.requests.TableLimits;
import java.util.Map;
import java.util.Optional;
import java.util.WeakHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.apache.hadoop.hbase.Abortable;
import org.apache.hbase.thirdparty.com.google.protobuf.Message;

/**
 * Which requests for rows a region server takes: of each table with a lease as many as it says. A
 * call that is beyond it is turned away before it waits for a handler, with the time after which
 * its client is to ask again, so that it costs the others next to nothing.
 */
public final class RequestLimits {
  // In a mini cluster several servers share this class; each has its own leases.
  private static final Map<Abortable, RequestLimits> BY_SERVER = new WeakHashMap<>();

  /** What calls are held to, once the plug-in of the server is there. */
  private record Followed(
      TableLimits tables, RequestedTables requested, BooleanSupplier isStopping) {}

  private final LongSupplier nanoTime;
  private volatile Followed followed;

  RequestLimits(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /** Those of a server, whose scheduler asks them; made at the first call. */
  public static RequestLimits of(Abortable server) {
    synchronized (BY_SERVER) {
      return BY_SERVER.computeIfAbsent(server, key -> new RequestLimits(System::nanoTime));
    }
  }

  /** Empty for a server whose scheduler does not ask. */
  static Optional<RequestLimits> find(Abortable server) {
    synchronized (BY_SERVER) {
      return Optional.ofNullable(BY_SERVER.get(server));
    }
  }

  /** Has it do what leases say; without, it takes everything. */
  TableLimits follow(LeaseStore leases, RequestedTables requested, BooleanSupplier isStopping) {
    TableLimits tables = new TableLimits(leases, nanoTime);
    followed = new Followed(tables, requested, isStopping);
    return tables;
  }

  /**
   * Takes a call, or turns it away.
   *
   * @return 0, or after how many nanoseconds its client may ask again
   */
  public long take(Message request) {
    Followed now = followed;
    // Without leases this is all that a request pays.
    if (now == null || !now.tables.areThere() || now.isStopping.getAsBoolean()) {
      return 0;
    }
    return now.tables.take(now.requested.of(request));
  }
}
