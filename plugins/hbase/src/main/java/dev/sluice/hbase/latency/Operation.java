package dev.sluice.hbase.latency;

import java.util.Optional;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.GetRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MultiRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutateRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.RegionAction;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.ScanRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.HBaseProtos.RegionSpecifier;
import org.apache.hbase.thirdparty.com.google.protobuf.ByteString;
import org.apache.hbase.thirdparty.com.google.protobuf.Message;

/** What a client asked for in one call. */
enum Operation {
  GET(RequestClass.READ),
  SCAN_NEXT(RequestClass.READ),
  BATCH_READ(RequestClass.READ),
  PUT(RequestClass.WRITE),
  DELETE(RequestClass.WRITE),
  INCREMENT(RequestClass.WRITE),
  APPEND(RequestClass.WRITE),
  BATCH_WRITE(RequestClass.WRITE);

  private static final ByteString SYSTEM_TABLES = ByteString.copyFromUtf8("hbase:");
  private final RequestClass requestClass;

  Operation(RequestClass requestClass) {
    this.requestClass = requestClass;
  }

  RequestClass requestClass() {
    return requestClass;
  }

  /**
   * Empty for what is no request of a client for rows: administration, replication, system tables.
   */
  static Optional<Operation> of(Message request) {
    if (request instanceof GetRequest get) {
      return in(get.getRegion(), GET);
    }
    if (request instanceof MutateRequest mutate) {
      return in(mutate.getRegion(), ofMutation(mutate));
    }
    if (request instanceof ScanRequest scan) {
      return ofScan(scan);
    }
    return request instanceof MultiRequest multi ? ofBatch(multi) : Optional.empty();
  }

  private static Optional<Operation> in(RegionSpecifier region, Operation operation) {
    // A region's name begins with that of its table; an encoded one has no colon.
    return region.getValue().startsWith(SYSTEM_TABLES) ? Optional.empty() : Optional.of(operation);
  }

  private static Operation ofMutation(MutateRequest request) {
    return switch (request.getMutation().getMutateType()) {
      case PUT -> PUT;
      case DELETE -> DELETE;
      case INCREMENT -> INCREMENT;
      case APPEND -> APPEND;
    };
  }

  /** A call that only ends or prolongs a scan brings no rows. */
  private static Optional<Operation> ofScan(ScanRequest scan) {
    boolean bringsNoRows = !scan.hasScan() && (scan.getCloseScanner() || scan.getRenew());
    return bringsNoRows ? Optional.empty() : in(scan.getRegion(), SCAN_NEXT);
  }

  private static Optional<Operation> ofBatch(MultiRequest batch) {
    if (batch.getRegionActionCount() == 0) {
      return Optional.empty();
    }
    return in(batch.getRegionAction(0).getRegion(), writes(batch) ? BATCH_WRITE : BATCH_READ);
  }

  private static boolean writes(MultiRequest batch) {
    return batch.getRegionActionList().stream()
        .map(RegionAction::getActionList)
        .anyMatch(actions -> actions.stream().anyMatch(action -> action.hasMutation()));
  }
}
