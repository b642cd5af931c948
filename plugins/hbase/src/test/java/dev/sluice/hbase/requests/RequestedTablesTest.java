package dev.sluice.hbase.requests;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.BulkLoadHFileRequest;
import org.junit.jupiter.api.Test;

class RequestedTablesTest {
  private final RequestedTables tables =
      new RequestedTables(encoded -> encoded.equals(Calls.ENCODED) ? "orders" : "");

  @Test
  void aRowIsOfItsTable() {
    assertEquals(Map.of("orders", 1), tables.of(Calls.get("orders")));
    assertEquals(Map.of("shop:orders", 1), tables.of(Calls.put("shop:orders")));
  }

  @Test
  void aRegionMayBeNamedByItsEncodedName() {
    assertEquals(Map.of("orders", 1), tables.of(Calls.getByEncodedName(Calls.ENCODED)));
    assertEquals(Map.of(), tables.of(Calls.getByEncodedName("gone")));
  }

  @Test
  void aScanCountsWhenItIsOpened() {
    assertEquals(Map.of("orders", 1), tables.of(Calls.scan("orders")));
    assertEquals(Map.of(), tables.of(Calls.nextOfScan()));
  }

  @Test
  void rowsOfABatchAddUpByTable() {
    assertEquals(Map.of("orders", 3), tables.of(Calls.batch(Calls.rows("orders", 3))));
    assertEquals(
        Map.of("orders", 5, "carts", 1),
        tables.of(
            Calls.batch(Calls.rows("orders", 3), Calls.rows("carts", 1), Calls.rows("orders", 2))));
    assertEquals(Map.of(), tables.of(Calls.batch()));
  }

  @Test
  void whatIsNoRequestForRowsIsOfNoTable() {
    assertEquals(Map.of(), tables.of(BulkLoadHFileRequest.getDefaultInstance()));
  }
}
