package dev.sluice.ycsb.ignite;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.ignite.table.Tuple;
import org.junit.jupiter.api.Test;
import site.ycsb.ByteIterator;
import site.ycsb.StringByteIterator;

/** Fields come back from a row as they were. */
class StoredRecordTest {
  private static Tuple row(Map<String, String> fields) {
    Map<String, ByteIterator> values = new HashMap<>();
    fields.forEach((name, value) -> values.put(name, new StringByteIterator(value)));
    return StoredRecord.row("k", values);
  }

  private static Map<String, String> copied(Tuple row, Set<String> wanted) {
    Map<String, ByteIterator> result = new HashMap<>();
    StoredRecord.copy(row, wanted, result);
    Map<String, String> texts = new HashMap<>();
    result.forEach((name, content) -> texts.put(name, content.toString()));
    return texts;
  }

  @Test
  void allFieldsComeBackAndTheKeyIsNone() {
    Map<String, String> fields = Map.of("field0", "größe", "FIELD1", "", "Field2", "two");
    assertEquals(fields, copied(row(fields), null));
  }

  @Test
  void onlyWantedFieldsComeBack() {
    Tuple row = row(Map.of("field0", "zero", "field1", "one"));
    assertEquals(Map.of("field1", "one"), copied(row, Set.of("field1", "field2")));
  }

  @Test
  void aColumnThatIsNullIsNoField() {
    Tuple row = row(Map.of("field0", "zero")).set("\"field1\"", null);
    assertEquals(Map.of("field0", "zero"), copied(row, null));
  }
}
