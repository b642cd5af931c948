package dev.sluice.cassandra.requests;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import org.apache.cassandra.cql3.QueryOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestedTablesTest {
  private static Map<String, Integer> of(String text) {
    return RequestedTables.of(Statements.of(text), QueryOptions.DEFAULT);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT * FROM shop.orders",
        "SELECT b FROM shop.orders WHERE a = 1",
        "SELECT JSON * FROM shop.orders WHERE a IN (1, 2)",
        "INSERT INTO shop.orders (a, b) VALUES (1, 2)",
        "INSERT INTO shop.orders (a, b) VALUES (1, 2) IF NOT EXISTS",
        "UPDATE shop.orders SET b = 2 WHERE a = 1",
        "DELETE FROM shop.orders WHERE a = 1",
      })
  void aStatementCountsOnce(String text) {
    assertEquals(Map.of("shop.orders", 1), of(text));
  }

  @Test
  void eachStatementOfABatchCounts() {
    String batch =
        "BEGIN BATCH INSERT INTO shop.orders (a, b) VALUES (1, 2);"
            + " DELETE FROM shop.orders WHERE a = 2; UPDATE shop.carts SET b = 1 WHERE a = 1;"
            + " APPLY BATCH";
    assertEquals(Map.of("shop.orders", 2, "shop.carts", 1), of(batch));
  }

  @Test
  void whoHasBegunToReadGoesOn() {
    assertEquals(
        Map.of(),
        RequestedTables.of(Statements.of("SELECT * FROM shop.orders"), Statements.furtherPage()));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "USE shop",
        "TRUNCATE shop.orders",
        "CREATE TABLE shop.more (a int PRIMARY KEY)",
        "DROP TABLE shop.carts"
      })
  void whatIsForNoRowsDoesNotCount(String text) {
    assertEquals(Map.of(), of(text));
  }
}
