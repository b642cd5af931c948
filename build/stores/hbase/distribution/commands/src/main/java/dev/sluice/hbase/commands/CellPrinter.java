package dev.sluice.hbase.commands;

import java.io.PrintWriter;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hbase.thirdparty.com.google.gson.Gson;
import org.apache.hbase.thirdparty.com.google.gson.GsonBuilder;

/** Prints cells as they come: a line each, or the members of one JSON array. */
final class CellPrinter implements AutoCloseable {
  private static final Gson GSON = new GsonBuilder().disableHtmlEscaping().create();

  /** To look whether the output is still there flushes it. */
  private static final int ROWS_PER_CHECK = 1000;

  private final PrintWriter out;
  private final boolean json;
  private boolean first = true;
  private long rows;

  CellPrinter(PrintWriter out, boolean json) {
    this.out = out;
    this.json = json;
    if (json) {
      out.print('[');
    }
  }

  void print(Result result) {
    if (result.isEmpty()) {
      return;
    }
    for (Cell cell : result.rawCells()) {
      if (json) {
        out.print(first ? "\n" : ",\n");
        out.print(GSON.toJson(CellLine.toJson(cell)));
      } else {
        // Not println, which would flush each line.
        out.print(CellLine.format(cell));
        out.print('\n');
      }
      first = false;
    }
    rows++;
    if (rows % ROWS_PER_CHECK == 0 && out.checkError()) {
      throw new CommandFailure("the output was closed", "let its reader read to the end");
    }
  }

  @Override
  public void close() {
    if (json) {
      out.println(first ? "]" : "\n]");
    }
    out.flush();
  }
}
