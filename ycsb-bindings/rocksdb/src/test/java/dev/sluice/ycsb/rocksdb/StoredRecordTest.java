package dev.sluice.ycsb.rocksdb;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import site.ycsb.ByteIterator;
import site.ycsb.StringByteIterator;

/** Fields come back from a stored value as they were. */
class StoredRecordTest {
  private static byte[] stored(Map<String, String> fields) {
    Map<String, ByteIterator> values = new HashMap<>();
    fields.forEach((name, value) -> values.put(name, new StringByteIterator(value)));
    return StoredRecord.encode(StoredRecord.fields(values));
  }

  private static Map<String, String> copied(byte[] value, Set<String> wanted) {
    Map<String, ByteIterator> row = new HashMap<>();
    StoredRecord.copy(value, wanted, row);
    Map<String, String> texts = new HashMap<>();
    row.forEach((name, content) -> texts.put(name, content.toString()));
    return texts;
  }

  @Test
  void allFieldsComeBack() {
    Map<String, String> fields = Map.of("field0", "zero", "größe", "", "", "no name");
    assertEquals(fields, copied(stored(fields), null));
  }

  @Test
  void onlyWantedFieldsComeBack() {
    Map<String, String> fields = Map.of("field0", "zero", "field1", "one");
    assertEquals(Map.of("field1", "one"), copied(stored(fields), Set.of("field1", "field2")));
  }

  @Test
  void aRecordWithoutFieldsIsEmpty() {
    assertArrayEquals(new byte[0], stored(Map.of()));
    assertEquals(Map.of(), copied(new byte[0], null));
  }
}
