package dev.sluice.client.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.client.Operation;
import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.CheckAndMutate;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RowMutations;
import org.apache.hadoop.hbase.client.Scan;
import org.junit.jupiter.api.Test;

class TableRequestTest {
  private static final TableName TABLE = TableName.valueOf("shop:orders");
  private static final byte[] ROW = bytes("row");
  private static final byte[] F = bytes("f");
  private static final byte[] G = bytes("g");

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static Method method(String name) {
    return Arrays.stream(AsyncTable.class.getMethods())
        .filter(each -> each.getName().equals(name))
        .findFirst()
        .orElseThrow();
  }

  private static void assertRequest(
      String operation, String scope, String method, Object... arguments) {
    assertEquals(
        Optional.of(new TableRequest(Operation.valueOf(operation), scope)),
        TableRequest.of(TABLE, method(method), arguments));
  }

  private static void assertNone(String method, Object... arguments) {
    assertEquals(Optional.empty(), TableRequest.of(TABLE, method(method), arguments));
  }

  @Test
  void readsAreOfTheFamilyThatTheyName() {
    assertRequest("READ", "shop:orders", "get", new Get(ROW));
    assertRequest("READ", "shop:orders/f", "get", new Get(ROW).addFamily(F));
    assertRequest("READ", "shop:orders/f", "exists", new Get(ROW).addColumn(F, ROW));
    assertRequest("READ", "shop:orders", "get", new Get(ROW).addFamily(F).addFamily(G));
    assertRequest("READ", "shop:orders/f", "scanAll", new Scan().addFamily(F));
    assertRequest("READ", "shop:orders", "scanAll", new Scan());
  }

  @Test
  void writesAreOfTheFamilyThatTheyWriteTo() throws IOException {
    Put put = new Put(ROW).addColumn(F, ROW, ROW);
    assertRequest("WRITE", "shop:orders/f", "put", put);
    assertRequest(
        "WRITE", "shop:orders", "put", new Put(ROW).addColumn(F, ROW, ROW).addColumn(G, ROW, ROW));
    assertRequest("WRITE", "shop:orders", "delete", new Delete(ROW));
    assertRequest("WRITE", "shop:orders/g", "append", new Append(ROW).addColumn(G, ROW, ROW));
    assertRequest("WRITE", "shop:orders/g", "increment", new Increment(ROW).addColumn(G, ROW, 1));
    assertRequest("WRITE", "shop:orders/g", "incrementColumnValue", ROW, G, ROW, 1L);
    assertRequest("WRITE", "shop:orders/f", "mutateRow", RowMutations.of(List.of(put)));
    assertRequest(
        "WRITE",
        "shop:orders/f",
        "checkAndMutate",
        CheckAndMutate.newBuilder(ROW).ifNotExists(F, ROW).build(put));
  }

  @Test
  void severalRowsAreOfTheFamilyThatTheyHaveInCommon() {
    Get one = new Get(ROW).addFamily(F);
    assertRequest("READ", "shop:orders/f", "getAll", List.of(one, one));
    assertRequest("READ", "shop:orders", "getAll", List.of(one, new Get(ROW)));
    assertRequest("READ", "shop:orders", "getAll", List.of(one, new Get(ROW).addFamily(G)));
    assertRequest(
        "WRITE", "shop:orders/f", "batch", List.of(one, new Put(ROW).addColumn(F, ROW, ROW)));
  }

  @Test
  void whatIsNoSingleRequestIsNotMeasured() {
    assertEquals(Optional.empty(), TableRequest.of(TABLE, method("getName"), null));
    assertNone("getScanner", new Scan());
    assertNone("scan", new Scan(), null);
    assertNone("checkAndMutate", ROW, F);
    assertNone("putAll", List.of());
  }
}
