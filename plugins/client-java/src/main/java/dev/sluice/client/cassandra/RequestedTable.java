package dev.sluice.client.cassandra;

import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.ColumnDefinitions;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.session.Request;
import dev.sluice.client.Operation;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a request asks for, and of which table: KEYSPACE.TABLE, or nothing where it does not say.
 */
record RequestedTable(Operation operation, String scope) {
  private static final String UNKNOWN = "";
  private static final String NAME = "(\"(?:[^\"]|\"\")+\"|\\w+)";
  private static final Pattern READ = Pattern.compile("\\s*select\\s.*", flags());
  private static final Pattern WRITE =
      Pattern.compile("\\s*(?:insert|update|delete|truncate)\\s.*", flags());

  /** The table of a statement as people write it; what is in a literal comes after it. */
  private static final Pattern TABLE =
      Pattern.compile(
          "\\s*(?:select\\s.*?\\sfrom|insert\\s+into|update|delete(?:\\s.*?)?\\sfrom)\\s+(?:"
              + NAME
              + "\\s*\\.\\s*)?"
              + NAME
              + ".*",
          flags());

  private static int flags() {
    return Pattern.CASE_INSENSITIVE | Pattern.DOTALL;
  }

  /** Empty for what asks for no rows, such as a statement that is being prepared. */
  static Optional<RequestedTable> of(Request request, Optional<CqlIdentifier> sessionKeyspace) {
    if (request instanceof BoundStatement bound) {
      return ofPrepared(bound.getPreparedStatement());
    }
    if (request instanceof BatchStatement batch) {
      return Optional.of(new RequestedTable(Operation.WRITE, scopeOf(batch, sessionKeyspace)));
    }
    if (request instanceof SimpleStatement simple) {
      Optional<CqlIdentifier> keyspace = Optional.ofNullable(simple.getKeyspace());
      return ofText(simple.getQuery(), keyspace.or(() -> sessionKeyspace));
    }
    return Optional.empty();
  }

  private static Optional<RequestedTable> ofPrepared(PreparedStatement statement) {
    ColumnDefinitions results = statement.getResultSetDefinitions();
    // Conditional writes have results as well.
    boolean isRead = READ.matcher(statement.getQuery()).matches();
    ColumnDefinitions named =
        isRead && results.size() > 0 ? results : statement.getVariableDefinitions();
    if (named.size() == 0) {
      return ofText(statement.getQuery(), Optional.empty());
    }
    String scope = scope(named.get(0).getKeyspace(), named.get(0).getTable().asInternal());
    return Optional.of(new RequestedTable(isRead ? Operation.READ : Operation.WRITE, scope));
  }

  /** That of all its statements, if they have the same. */
  private static String scopeOf(BatchStatement batch, Optional<CqlIdentifier> sessionKeyspace) {
    String common = null;
    for (Request each : batch) {
      String scope = of(each, sessionKeyspace).map(RequestedTable::scope).orElse(UNKNOWN);
      if (common != null && !common.equals(scope)) {
        return UNKNOWN;
      }
      common = scope;
    }
    return common == null ? UNKNOWN : common;
  }

  static Optional<RequestedTable> ofText(String query, Optional<CqlIdentifier> keyspace) {
    boolean isRead = READ.matcher(query).matches();
    if (!isRead && !WRITE.matcher(query).matches()) {
      return Optional.empty();
    }
    return Optional.of(
        new RequestedTable(isRead ? Operation.READ : Operation.WRITE, scopeOf(query, keyspace)));
  }

  private static String scopeOf(String query, Optional<CqlIdentifier> keyspace) {
    Matcher matcher = TABLE.matcher(query);
    if (!matcher.matches()) {
      return UNKNOWN;
    }
    Optional<CqlIdentifier> written =
        Optional.ofNullable(matcher.group(1)).map(CqlIdentifier::fromCql);
    String table = CqlIdentifier.fromCql(matcher.group(2)).asInternal();
    return written.or(() -> keyspace).map(name -> scope(name, table)).orElse(UNKNOWN);
  }

  private static String scope(CqlIdentifier keyspace, String table) {
    return keyspace.asInternal() + "." + table;
  }
}
