package dev.sluice.cassandra.requests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import dev.sluice.local.requests.TableLimits;
import java.lang.reflect.Proxy;
import java.util.Map;
import org.apache.cassandra.cql3.BatchQueryOptions;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.QueryHandler;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.statements.BatchStatement;
import org.apache.cassandra.exceptions.OverloadedException;
import org.junit.jupiter.api.Test;

/** What a handler lets through to Cassandra's own, of which these tests need the calls alone. */
class LimitingQueryHandlerTest {
  private static final double TIME_TO_LIVE_SECONDS = 5;
  private static final String ORDERS = "SELECT * FROM shop.orders WHERE a = 1";
  private static final String CARTS = "SELECT * FROM shop.carts WHERE a = 1";
  private static final String BOTH =
      "BEGIN BATCH INSERT INTO shop.carts (a, b) VALUES (1, 2);"
          + " INSERT INTO shop.orders (a, b) VALUES (1, 2); APPLY BATCH";

  private long nanos;
  private int calls;
  private final LeaseStore leases = new LeaseStore(() -> nanos);
  private final TableLimits limits = new TableLimits(leases, () -> nanos);
  private final LimitingQueryHandler handler = new LimitingQueryHandler(counted());

  private QueryHandler counted() {
    Class<?>[] types = {QueryHandler.class};
    return (QueryHandler)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            types,
            (proxy, method, arguments) -> {
              calls++;
              return null;
            });
  }

  private void give(String table, double perSecond) throws Exception {
    leases.set(
        TableLimits.KIND,
        Scope.ofTable(table),
        Setting.of(SettingName.RATE_OPERATIONS_PER_SECOND, perSecond),
        "policy/test",
        TIME_TO_LIVE_SECONDS,
        false);
  }

  private interface Ask {
    void ask(CQLStatement statement);
  }

  private void asked(CQLStatement statement) {
    handler.process(statement, null, QueryOptions.DEFAULT, Map.of(), null);
  }

  private void prepared(CQLStatement statement) {
    handler.processPrepared(statement, null, QueryOptions.DEFAULT, Map.of(), null);
  }

  private void batch(CQLStatement statement) {
    handler.processBatch(
        (BatchStatement) statement, null, BatchQueryOptions.DEFAULT, Map.of(), null);
  }

  /** How many of so many at once come through. */
  private int taken(Ask ask, String text, int times) {
    int before = calls;
    CQLStatement statement = Statements.of(text);
    for (int i = 0; i < times; i++) {
      try {
        ask.ask(statement);
      } catch (OverloadedException e) {
        assertTrue(e.getMessage().contains("ask again in"), e.getMessage());
      }
    }
    return calls - before;
  }

  @Test
  void whatFollowsNoLeasesTakesEverything() throws Exception {
    give("shop.orders", 1);
    assertEquals(50, taken(this::asked, ORDERS, 50));
  }

  @Test
  void withoutLeasesEverythingIsTaken() {
    handler.follow(limits);
    assertEquals(50, taken(this::asked, ORDERS, 50));
    assertEquals(50, taken(this::batch, BOTH, 50));
    assertTrue(limits.counts().isEmpty());
  }

  @Test
  void aLeaseBoundsItsTableHoweverItIsAskedFor() throws Exception {
    handler.follow(limits);
    give("shop.orders", 100);
    assertEquals(4, taken(this::asked, ORDERS, 4));
    assertEquals(3, taken(this::prepared, ORDERS, 3));
    assertEquals(3, taken(this::batch, BOTH, 20));
    assertEquals(0, taken(this::asked, ORDERS, 1) + taken(this::prepared, ORDERS, 1));
    assertEquals(50, taken(this::asked, CARTS, 50));
    assertEquals(new TableLimits.Count(10, 19), limits.counts().get("shop.orders"));
  }

  @Test
  void aBatchIsTakenAsAWholeOrNotAtAll() throws Exception {
    handler.follow(limits);
    give("shop.orders", 10);
    give("shop.carts", 100);
    assertEquals(1, taken(this::batch, BOTH, 5));
    assertEquals(9, taken(this::asked, CARTS, 50));
  }

  @Test
  void aNodeWhoseLimitOfAllIsOrderedBoundsNoTable() throws Exception {
    handler.follow(limits);
    give("", 1);
    assertEquals(50, taken(this::asked, ORDERS, 50));
  }

  @Test
  void theEndOfALeaseLetsEverythingThrough() throws Exception {
    handler.follow(limits);
    give("shop.orders", 1);
    assertEquals(1, taken(this::asked, ORDERS, 50));
    leases.end(lease -> true);
    assertEquals(50, taken(this::asked, ORDERS, 50));
  }

  @Test
  void whatIsTurnedAwayIsNamed() throws Exception {
    handler.follow(limits);
    give("shop.orders", 1);
    asked(Statements.of(ORDERS));
    OverloadedException refused =
        assertThrows(OverloadedException.class, () -> asked(Statements.of(ORDERS)));
    assertEquals(
        "an order bounds how many requests a second this node takes for shop.orders: ask again in"
            + " 1.000 s",
        refused.getMessage());
  }
}
