package dev.sluice.hbase.commands;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CellLineTest {
  private static final int ROUNDS = 2000;
  private static final int LONGEST = 30;

  @Test
  void whatIsPrintedCanBePut() throws Exception {
    SplittableRandom random = new SplittableRandom(3);
    for (int round = 0; round < ROUNDS; round++) {
      byte[] row = bytes(random, 1 + random.nextInt(LONGEST));
      byte[] qualifier = bytes(random, random.nextInt(LONGEST));
      byte[] value = bytes(random, random.nextInt(LONGEST));
      Cell printed = new KeyValue(row, Bytes.toBytes("cf"), qualifier, 1, value);
      Put put = CellLine.parse(CellLine.format(printed), 1);
      Cell read = put.get(Bytes.toBytes("cf"), qualifier).get(0);
      assertArrayEquals(row, put.getRow());
      assertArrayEquals(value, CellUtil.cloneValue(read));
    }
  }

  @Test
  void columnsOfALineAreSeparatedByTabs() {
    Cell cell =
        new KeyValue(
            Bytes.toBytes("r"), Bytes.toBytes("cf"), Bytes.toBytes("q"), 1, new byte[] {9});
    assertEquals("r\tcf:q\t\\x09", CellLine.format(cell));
    assertEquals(
        "{\"row\":\"r\",\"column\":\"cf:q\",\"timestamp_milliseconds\":1,\"value\":\"\\\\x09\"}",
        CellLine.toJson(cell).toString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "row", "row\tcf:q", "\tcf:q\tv", "r\tcf\tv", "r\t:q\tv", "r\tcf:q\tv\tw"})
  void whatIsNoCellIsRefused(String line) {
    assertThrows(CommandFailure.class, () -> CellLine.parse(line, 7));
  }

  @Test
  void aRefusalNamesTheLine() {
    CommandFailure failure = assertThrows(CommandFailure.class, () -> CellLine.parse("row", 7));
    assertTrue(failure.getMessage().startsWith("line 7 "), failure.getMessage());
  }

  private static byte[] bytes(SplittableRandom random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }
}
