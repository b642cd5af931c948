package dev.sluice.hbase.requests;

import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.Action;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.Get;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.GetRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MultiRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutateRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.RegionAction;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.Scan;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.ScanRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.HBaseProtos.RegionSpecifier;
import org.apache.hadoop.hbase.shaded.protobuf.generated.HBaseProtos.RegionSpecifier.RegionSpecifierType;
import org.apache.hbase.thirdparty.com.google.protobuf.ByteString;

/** Calls as clients send them. */
final class Calls {
  static final String ENCODED = "d41d8cd98f00b204e9800998ecf8427e";
  private static final Get ROW = Get.newBuilder().setRow(ByteString.copyFromUtf8("r")).build();

  private Calls() {}

  static RegionSpecifier regionOf(String table) {
    return specifier(
        RegionSpecifierType.REGION_NAME,
        table + ",a row, with commas,1700000000000." + ENCODED + ".");
  }

  private static RegionSpecifier specifier(RegionSpecifierType type, String name) {
    return RegionSpecifier.newBuilder()
        .setType(type)
        .setValue(ByteString.copyFromUtf8(name))
        .build();
  }

  static GetRequest get(String table) {
    return GetRequest.newBuilder().setRegion(regionOf(table)).setGet(ROW).build();
  }

  static GetRequest getByEncodedName(String encoded) {
    return GetRequest.newBuilder()
        .setRegion(specifier(RegionSpecifierType.ENCODED_REGION_NAME, encoded))
        .setGet(ROW)
        .build();
  }

  static MutateRequest put(String table) {
    return MutateRequest.newBuilder()
        .setRegion(regionOf(table))
        .setMutation(MutationProto.newBuilder())
        .build();
  }

  static ScanRequest scan(String table) {
    return ScanRequest.newBuilder().setRegion(regionOf(table)).setScan(Scan.newBuilder()).build();
  }

  static ScanRequest nextOfScan() {
    return ScanRequest.newBuilder().setScannerId(7).setNumberOfRows(100).build();
  }

  static RegionAction rows(String table, int rows) {
    RegionAction.Builder action = RegionAction.newBuilder().setRegion(regionOf(table));
    for (int row = 0; row < rows; row++) {
      action.addAction(Action.newBuilder().setGet(ROW));
    }
    return action.build();
  }

  static MultiRequest batch(RegionAction... actions) {
    MultiRequest.Builder batch = MultiRequest.newBuilder();
    for (RegionAction action : actions) {
      batch.addRegionAction(action);
    }
    return batch.build();
  }
}
