package dev.sluice.hbase.commands;

import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * A cell as a line ROW, FAMILY:QUALIFIER, VALUE with tabs between: what {@code get} and {@code
 * scan} print, {@code put --stdin} reads.
 */
final class CellLine {
  private static final int FIELDS = 3;

  private CellLine() {}

  static String format(Cell cell) {
    return row(cell) + '\t' + column(cell) + '\t' + value(cell);
  }

  static JsonObject toJson(Cell cell) {
    JsonObject json = new JsonObject();
    json.addProperty("row", row(cell));
    json.addProperty("column", column(cell));
    json.addProperty("timestamp_milliseconds", cell.getTimestamp());
    json.addProperty("value", value(cell));
    return json;
  }

  /** The put that a line asks for; NUMBER is the line's, for the message. */
  static Put parse(String line, long number) {
    String[] fields = line.split("\t", -1);
    if (fields.length != FIELDS || fields[0].isEmpty()) {
      throw new CommandFailure(
          "line " + number + " is no cell: " + line,
          "write ROW, FAMILY:QUALIFIER and VALUE with one tab between; a tab in them is \\x09");
    }
    Column column = Column.parseOne(fields[1]);
    return new Put(BinaryText.parse(fields[0]))
        .addColumn(column.family(), column.qualifier(), BinaryText.parse(fields[2]));
  }

  private static String row(Cell cell) {
    return BinaryText.format(cell.getRowArray(), cell.getRowOffset(), cell.getRowLength());
  }

  private static String column(Cell cell) {
    return BinaryText.format(cell.getFamilyArray(), cell.getFamilyOffset(), cell.getFamilyLength())
        + ':'
        + BinaryText.format(
            cell.getQualifierArray(), cell.getQualifierOffset(), cell.getQualifierLength());
  }

  private static String value(Cell cell) {
    return BinaryText.format(cell.getValueArray(), cell.getValueOffset(), cell.getValueLength());
  }
}
