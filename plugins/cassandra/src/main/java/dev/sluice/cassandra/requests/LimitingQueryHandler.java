package dev.sluice.cassandra.requests;

import dev.sluice.local.requests.TableLimits;
import java.nio.ByteBuffer;
import java.util.Map;
import org.apache.cassandra.cql3.BatchQueryOptions;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.QueryHandler;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.cql3.statements.BatchStatement;
import org.apache.cassandra.exceptions.OverloadedException;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.service.QueryState;
import org.apache.cassandra.transport.Dispatcher;
import org.apache.cassandra.transport.messages.ResultMessage;
import org.apache.cassandra.utils.MD5Digest;

/**
 * Turns away what clients ask of a table beyond what leases say, before anything is read or
 * written. A node has it where its option {@code cassandra.custom_query_handler_class} names it;
 * all the rest is Cassandra's own handler.
 */
public final class LimitingQueryHandler implements QueryHandler {
  private static final double NANOS_PER_SECOND = 1e9;

  private final QueryHandler own;
  private volatile TableLimits limits;

  /** Called by Cassandra, before its first client. */
  public LimitingQueryHandler() {
    this(QueryProcessor.instance);
  }

  LimitingQueryHandler(QueryHandler own) {
    this.own = own;
  }

  /** Has it do what leases say; before that it takes everything. */
  void follow(TableLimits tables) {
    limits = tables;
  }

  /** What there are limits for; nothing is looked at where this is null. */
  private TableLimits limitsNow() {
    TableLimits now = limits;
    return now != null && now.areThere() ? now : null;
  }

  private void take(CQLStatement statement, QueryOptions options) {
    TableLimits now = limitsNow();
    if (now != null) {
      take(now, RequestedTables.of(statement, options));
    }
  }

  private static void take(TableLimits limits, Map<String, Integer> rows) {
    long waitNanos = limits.take(rows);
    if (waitNanos > 0) {
      throw new OverloadedException(
          "an order bounds how many requests a second this node takes for %s: ask again in %.3f s"
              .formatted(String.join(", ", rows.keySet()), waitNanos / NANOS_PER_SECOND));
    }
  }

  @Override
  public ResultMessage process(
      CQLStatement statement,
      QueryState state,
      QueryOptions options,
      Map<String, ByteBuffer> customPayload,
      Dispatcher.RequestTime requestTime) {
    take(statement, options);
    return own.process(statement, state, options, customPayload, requestTime);
  }

  @Override
  public ResultMessage processPrepared(
      CQLStatement statement,
      QueryState state,
      QueryOptions options,
      Map<String, ByteBuffer> customPayload,
      Dispatcher.RequestTime requestTime) {
    take(statement, options);
    return own.processPrepared(statement, state, options, customPayload, requestTime);
  }

  @Override
  public ResultMessage processBatch(
      BatchStatement statement,
      QueryState state,
      BatchQueryOptions options,
      Map<String, ByteBuffer> customPayload,
      Dispatcher.RequestTime requestTime) {
    TableLimits now = limitsNow();
    if (now != null) {
      take(now, RequestedTables.of(statement));
    }
    return own.processBatch(statement, state, options, customPayload, requestTime);
  }

  @Override
  public CQLStatement parse(String query, QueryState state, QueryOptions options) {
    return own.parse(query, state, options);
  }

  @Override
  public ResultMessage.Prepared prepare(
      String query, ClientState client, Map<String, ByteBuffer> customPayload) {
    return own.prepare(query, client, customPayload);
  }

  @Override
  public Prepared getPrepared(MD5Digest id) {
    return own.getPrepared(id);
  }
}
