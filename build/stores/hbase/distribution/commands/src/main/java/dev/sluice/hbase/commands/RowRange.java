package dev.sluice.hbase.commands;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.client.Scan;
import picocli.CommandLine.Option;

/** Options that say which rows and columns to read. */
final class RowRange {
  @Option(names = "--start", paramLabel = "ROW", description = "The first row.")
  private String start;

  @Option(names = "--stop", paramLabel = "ROW", description = "The row to stop before.")
  private String stop;

  @Option(names = "--prefix", paramLabel = "TEXT", description = "Only rows that begin with it.")
  private String prefix;

  @Option(
      names = {"-c", "--column"},
      paramLabel = "COLUMN",
      description = "FAMILY or FAMILY:QUALIFIER (default: all). May be given more than once.")
  private List<String> columns = new ArrayList<>();

  /** Why the options do not go together; null if they do. */
  String fault() {
    return prefix != null && (start != null || stop != null)
        ? "give --prefix, or --start and --stop, not both"
        : null;
  }

  Scan scan() {
    // What is read once is not worth a place in the cache.
    Scan scan = new Scan().setCacheBlocks(false);
    if (prefix != null) {
      scan.setStartStopRowForPrefixScan(BinaryText.parse(prefix));
    }
    if (start != null) {
      scan.withStartRow(BinaryText.parse(start));
    }
    if (stop != null) {
      scan.withStopRow(BinaryText.parse(stop));
    }
    for (Column column : columns.stream().map(Column::parse).toList()) {
      if (column.qualifier() == null) {
        scan.addFamily(column.family());
      } else {
        scan.addColumn(column.family(), column.qualifier());
      }
    }
    return scan;
  }
}
