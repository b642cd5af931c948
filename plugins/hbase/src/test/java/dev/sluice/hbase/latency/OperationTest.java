package dev.sluice.hbase.latency;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Optional;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.Action;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.Get;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.GetRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MultiRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutateRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto.MutationType;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.RegionAction;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.Scan;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.ScanRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.HBaseProtos.RegionSpecifier;
import org.apache.hadoop.hbase.shaded.protobuf.generated.HBaseProtos.RegionSpecifier.RegionSpecifierType;
import org.apache.hbase.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OperationTest {
  private static final Get ROW = Get.newBuilder().setRow(ByteString.copyFromUtf8("r")).build();

  private static RegionSpecifier region(String table) {
    return RegionSpecifier.newBuilder()
        .setType(RegionSpecifierType.REGION_NAME)
        .setValue(ByteString.copyFromUtf8(table + ",,1700000000000.abc."))
        .build();
  }

  private static MutationProto mutation(MutationType type) {
    return MutationProto.newBuilder().setMutateType(type).build();
  }

  private static MultiRequest batch(Action... actions) {
    RegionAction.Builder inRegion = RegionAction.newBuilder().setRegion(region("orders"));
    for (Action action : actions) {
      inRegion.addAction(action);
    }
    return MultiRequest.newBuilder().addRegionAction(inRegion).build();
  }

  private static Action get() {
    return Action.newBuilder().setGet(ROW).build();
  }

  private static Action put() {
    return Action.newBuilder().setMutation(mutation(MutationType.PUT)).build();
  }

  @Test
  void aGetIsARead() {
    GetRequest get = GetRequest.newBuilder().setRegion(region("orders")).setGet(ROW).build();
    assertEquals(Optional.of(Operation.GET), Operation.of(get));
    assertEquals(RequestClass.READ, Operation.GET.requestClass());
  }

  @ParameterizedTest
  @CsvSource({"PUT,PUT", "DELETE,DELETE", "INCREMENT,INCREMENT", "APPEND,APPEND"})
  void aMutationIsAWriteOfItsType(MutationType type, Operation expected) {
    MutateRequest request =
        MutateRequest.newBuilder().setRegion(region("orders")).setMutation(mutation(type)).build();
    assertEquals(Optional.of(expected), Operation.of(request));
    assertEquals(RequestClass.WRITE, expected.requestClass());
  }

  @Test
  void requestsForSystemTablesDoNotCount() {
    GetRequest get = GetRequest.newBuilder().setRegion(region("hbase:meta")).setGet(ROW).build();
    assertEquals(Optional.empty(), Operation.of(get));
  }

  @Test
  void aScanCountsWhereItBringsRows() {
    ScanRequest.Builder next = ScanRequest.newBuilder().setScannerId(7).setNumberOfRows(10);
    assertEquals(Optional.of(Operation.SCAN_NEXT), Operation.of(next.build()));
    assertEquals(Optional.empty(), Operation.of(next.setCloseScanner(true).build()));
    ScanRequest.Builder renewal = ScanRequest.newBuilder().setScannerId(7).setRenew(true);
    assertEquals(Optional.empty(), Operation.of(renewal.build()));
    ScanRequest whole =
        ScanRequest.newBuilder()
            .setRegion(region("orders"))
            .setScan(Scan.getDefaultInstance())
            .setCloseScanner(true)
            .build();
    assertEquals(Optional.of(Operation.SCAN_NEXT), Operation.of(whole));
  }

  @Test
  void laterCallsOfAScanCountWhateverItsTable() {
    ScanRequest first =
        ScanRequest.newBuilder()
            .setRegion(region("hbase:meta"))
            .setScan(Scan.getDefaultInstance())
            .build();
    assertEquals(Optional.empty(), Operation.of(first));
    // It names the scanner alone.
    ScanRequest next = ScanRequest.newBuilder().setScannerId(7).setNumberOfRows(10).build();
    assertEquals(Optional.of(Operation.SCAN_NEXT), Operation.of(next));
  }

  @Test
  void aBatchWithOneWriteIsAWrite() {
    assertEquals(Optional.of(Operation.BATCH_READ), Operation.of(batch(get(), get())));
    assertEquals(Optional.of(Operation.BATCH_WRITE), Operation.of(batch(get(), put())));
    assertEquals(Optional.empty(), Operation.of(MultiRequest.getDefaultInstance()));
  }

  @Test
  void whatAsksForNoRowsDoesNotCount() {
    assertEquals(Optional.empty(), Operation.of(RegionSpecifier.getDefaultInstance()));
    assertEquals(Optional.empty(), Operation.of(null));
  }
}
