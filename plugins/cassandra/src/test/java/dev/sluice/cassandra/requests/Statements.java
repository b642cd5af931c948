package dev.sluice.cassandra.requests;

import java.nio.ByteBuffer;
import java.util.List;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.dht.Murmur3Partitioner;
import org.apache.cassandra.schema.KeyspaceMetadata;
import org.apache.cassandra.schema.KeyspaceParams;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.SchemaTransformations;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.schema.Tables;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.service.pager.PagingState;
import org.apache.cassandra.transport.ProtocolVersion;

/** Statements of Cassandra's own parser, for tables of a schema in memory. */
final class Statements {
  static {
    DatabaseDescriptor.clientInitialization(false);
    Tables tables = Tables.of(table("orders"), table("carts"));
    KeyspaceMetadata shop = KeyspaceMetadata.create("shop", KeyspaceParams.simple(1), tables);
    Schema.instance.transform(SchemaTransformations.addKeyspace(shop, true));
  }

  private Statements() {}

  private static TableMetadata table(String name) {
    return TableMetadata.builder("shop", name)
        .partitioner(Murmur3Partitioner.instance)
        .addPartitionKeyColumn("a", Int32Type.instance)
        .addRegularColumn("b", Int32Type.instance)
        .build();
  }

  /** The statement of a text, as a handler gets it. */
  static CQLStatement of(String text) {
    return QueryProcessor.parseStatement(text).prepare(ClientState.forInternalCalls());
  }

  /** The options of a request for a page that is not the first. */
  static QueryOptions furtherPage() {
    PagingState place = new PagingState(ByteBuffer.allocate(4), null, 10, 10);
    return QueryOptions.create(
        ConsistencyLevel.ONE, List.of(), false, 10, place, null, ProtocolVersion.V5, null);
  }
}
