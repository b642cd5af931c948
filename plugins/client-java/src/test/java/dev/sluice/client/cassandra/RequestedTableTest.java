package dev.sluice.client.cassandra;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.datastax.oss.driver.api.core.CqlIdentifier;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.DefaultBatchType;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import dev.sluice.client.Operation;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RequestedTableTest {
  private static final Optional<CqlIdentifier> SHOP =
      Optional.of(CqlIdentifier.fromInternal("shop"));

  private static Optional<RequestedTable> of(String query) {
    return RequestedTable.of(SimpleStatement.newInstance(query), SHOP);
  }

  @Test
  void statementsNameTheirTable() {
    for (String[] each :
        new String[][] {
          {"SELECT * FROM k.t WHERE a = 'x from y.z'", "READ", "k.t"},
          {"select a, b\nfrom Orders", "READ", "shop.orders"},
          {"SELECT json a FROM \"K\".\"Big T\" ", "READ", "K.Big T"},
          {"INSERT INTO k . t (a) VALUES (1)", "WRITE", "k.t"},
          {" update t SET a = 1", "WRITE", "shop.t"},
          {"DELETE FROM k.t WHERE a = 1", "WRITE", "k.t"},
          {"DELETE a FROM k.t WHERE a = 1", "WRITE", "k.t"},
          {"TRUNCATE k.t", "WRITE", ""},
        }) {
      RequestedTable wanted = new RequestedTable(Operation.valueOf(each[1]), each[2]);
      assertEquals(Optional.of(wanted), of(each[0]), each[0]);
    }
  }

  @Test
  void whatAsksForNoRowsIsNoRequest() {
    assertEquals(Optional.empty(), of("CREATE TABLE k.t (a int PRIMARY KEY)"));
    assertEquals(Optional.empty(), of("USE k"));
  }

  @Test
  void aTableWithoutKeyspaceIsUnknown() {
    Optional<RequestedTable> found =
        RequestedTable.of(SimpleStatement.newInstance("SELECT a FROM t"), Optional.empty());
    assertEquals(Optional.of(new RequestedTable(Operation.READ, "")), found);
  }

  @Test
  void aBatchIsOfTheTableThatItsStatementsHaveInCommon() {
    SimpleStatement one = SimpleStatement.newInstance("UPDATE k.t SET a = 1");
    SimpleStatement other = SimpleStatement.newInstance("UPDATE k.u SET a = 1");
    assertEquals("k.t", scopeOf(BatchStatement.newInstance(DefaultBatchType.LOGGED, one, one)));
    assertEquals("", scopeOf(BatchStatement.newInstance(DefaultBatchType.LOGGED, one, other)));
  }

  private static String scopeOf(BatchStatement batch) {
    RequestedTable found = RequestedTable.of(batch, SHOP).orElseThrow();
    assertEquals(Operation.WRITE, found.operation());
    return found.scope();
  }
}
