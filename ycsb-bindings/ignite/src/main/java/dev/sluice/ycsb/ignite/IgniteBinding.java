package dev.sluice.ycsb.ignite;

import dev.sluice.ycsb.PrepareStep;
import dev.sluice.ycsb.Setting;
import dev.sluice.ycsb.StoreBinding;
import java.util.List;
import site.ycsb.DB;

/** Apache Ignite 3 for {@code sluice-ycsb}. */
public final class IgniteBinding implements StoreBinding {

  /** Made by the service loader. */
  public IgniteBinding() {}

  @Override
  public String name() {
    return "ignite";
  }

  @Override
  public String summary() {
    return "Apache Ignite 3 by its Java client: a row per record, a transaction per operation";
  }

  @Override
  public DB newDb() {
    return new IgniteYcsbClient();
  }

  @Override
  public List<Setting> settings() {
    return IgniteSettings.all();
  }

  @Override
  public List<PrepareStep> prepareSteps() {
    return List.of(
        new PrepareStep(
            CREATE_TABLE,
            "create the table in a distribution zone of its name; fails if it exists",
            TableSteps::create),
        new PrepareStep(DROP_TABLE, "drop the table and its zone if they exist", TableSteps::drop),
        new PrepareStep(
            "await-replicas",
            "wait until all replicas of the table are there and none is behind",
            TableSteps::awaitReplicas));
  }
}
