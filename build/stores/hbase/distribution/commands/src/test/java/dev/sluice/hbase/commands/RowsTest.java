package dev.sluice.hbase.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class RowsTest {

  @Test
  void peopleGetAlignedColumnsAndProgramsGetTypes() {
    Rows rows = new Rows("server", "regions", "on");
    rows.add("a", 12, true);
    rows.add("longer", 3, false);
    assertEquals(
        "SERVER  REGIONS  ON\na       12       true\nlonger  3        false", rows.toText());
    assertEquals(
        "[{\"server\":\"a\",\"regions\":12,\"on\":true},"
            + "{\"server\":\"longer\",\"regions\":3,\"on\":false}]",
        rows.toJson().toString());
  }

  @Test
  void withoutRowsThereIsTheHeader() {
    assertEquals("A  B", new Rows("a", "b").toText());
    assertEquals("[]", new Rows("a", "b").toJson().toString());
  }

  @Test
  void aRowHasAValueForEachColumn() {
    assertThrows(IllegalArgumentException.class, () -> new Rows("a", "b").add("only"));
  }
}
