package dev.sluice.ycsb.hbase;

import dev.sluice.ycsb.PrepareStep;
import dev.sluice.ycsb.Setting;
import dev.sluice.ycsb.StoreBinding;
import java.util.List;
import java.util.Properties;
import site.ycsb.DB;

/** HBase for {@code sluice-ycsb}. */
public final class HBaseBinding implements StoreBinding {

  /** Made by the service loader. */
  public HBaseBinding() {}

  @Override
  public String name() {
    return "hbase";
  }

  @Override
  public String summary() {
    return "HBase 2 by its asynchronous client: a row per record, a call per operation";
  }

  @Override
  public DB newDb() {
    return new HBaseClient();
  }

  /** Where there is one family, all that is asked for is in it. */
  @Override
  public String scope(Properties properties, String table) {
    List<String> families = HBaseSettings.of(properties).families().names();
    return families.size() == 1 ? table + "/" + families.get(0) : table;
  }

  @Override
  public List<Setting> settings() {
    return HBaseSettings.all();
  }

  @Override
  public List<PrepareStep> prepareSteps() {
    return List.of(
        new PrepareStep(
            CREATE_TABLE,
            "create the table with its families and regions; fails if it exists",
            TableSteps::create),
        new PrepareStep(DROP_TABLE, "drop the table if it exists", TableSteps::drop),
        new PrepareStep("flush", "write what is in memory to store files", TableSteps::flush),
        new PrepareStep(
            "major-compact",
            "merge each family of each region into one store file, and wait for it",
            TableSteps::majorCompact),
        new PrepareStep(
            "start-major-compact",
            "ask for the same and do not wait: for a run that is to go on beside it",
            TableSteps::startMajorCompact));
  }
}
