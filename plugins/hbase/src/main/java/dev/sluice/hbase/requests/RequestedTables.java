package dev.sluice.hbase.requests;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.GetRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MultiRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutateRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.RegionAction;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.ScanRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.HBaseProtos.RegionSpecifier;
import org.apache.hadoop.hbase.shaded.protobuf.generated.HBaseProtos.RegionSpecifier.RegionSpecifierType;
import org.apache.hbase.thirdparty.com.google.protobuf.Message;

/** Which tables a call asks for rows of, and how often. */
final class RequestedTables {
  // Of a region's name the first part is that of its table (RegionInfo.createRegionName).
  private static final char SEPARATOR = ',';

  private final Function<String, String> tableOfEncoded;

  /**
   * Tells the tables of calls.
   *
   * @param tableOfEncoded the table of a region's encoded name; empty if it is not known
   */
  RequestedTables(Function<String, String> tableOfEncoded) {
    this.tableOfEncoded = tableOfEncoded;
  }

  /** A scan counts once, when it is opened: its further calls do not name a table. */
  Map<String, Integer> of(Message request) {
    if (request instanceof GetRequest get) {
      return one(get.getRegion(), 1);
    }
    if (request instanceof MutateRequest mutate) {
      return one(mutate.getRegion(), 1);
    }
    if (request instanceof ScanRequest scan) {
      return scan.hasScan() ? one(scan.getRegion(), 1) : Map.of();
    }
    return request instanceof MultiRequest multi ? ofBatch(multi) : Map.of();
  }

  private Map<String, Integer> one(RegionSpecifier region, int rows) {
    String table = tableOf(region);
    return table.isEmpty() ? Map.of() : Map.of(table, rows);
  }

  private Map<String, Integer> ofBatch(MultiRequest batch) {
    if (batch.getRegionActionCount() == 1) {
      RegionAction only = batch.getRegionAction(0);
      return one(only.getRegion(), only.getActionCount());
    }
    Map<String, Integer> rows = new HashMap<>();
    for (RegionAction action : batch.getRegionActionList()) {
      one(action.getRegion(), action.getActionCount())
          .forEach((table, count) -> rows.merge(table, count, Integer::sum));
    }
    return rows;
  }

  private String tableOf(RegionSpecifier region) {
    String name = region.getValue().toStringUtf8();
    if (region.getType() == RegionSpecifierType.ENCODED_REGION_NAME) {
      return tableOfEncoded.apply(name);
    }
    int end = name.indexOf(SEPARATOR);
    return end < 0 ? "" : name.substring(0, end);
  }
}
