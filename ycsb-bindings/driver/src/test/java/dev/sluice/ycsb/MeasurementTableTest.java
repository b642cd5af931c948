package dev.sluice.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import org.junit.jupiter.api.Test;
import site.ycsb.measurements.exporter.JSONArrayMeasurementsExporter;

class MeasurementTableTest {
  @Test
  void everyStatusButSuccessIsAFailure() {
    MeasurementTable table = new MeasurementTable();
    table.write("READ", "Operations", 100L);
    table.write("READ", "Return=OK", 90);
    table.write("READ", "Return=NOT_FOUND", 7);
    table.write("INSERT", "Return=BATCHED_OK", 50);
    table.write("UPDATE", "Return=ERROR", 2);
    table.write("VERIFY", "Return=UNEXPECTED_STATE", 1);
    assertEquals(10, table.failures());
  }

  @Test
  void rowsAreCopiedWithTheirTypes() throws Exception {
    MeasurementTable table = new MeasurementTable();
    table.write("READ", "Return=OK", 1);
    table.write("READ", "Operations", 3_000_000_000L);
    table.write("READ", "AverageLatency(us)", 0.5);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    table.copyTo(new JSONArrayMeasurementsExporter(out));
    assertEquals(
        "[{'metric':'READ','measurement':'Return=OK','value':1},"
            + "{'metric':'READ','measurement':'Operations','value':3000000000},"
            + "{'metric':'READ','measurement':'AverageLatency(us)','value':0.5}]",
        out.toString().replaceAll("\\s", "").replace('"', '\''));
  }
}
