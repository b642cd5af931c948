package dev.sluice.ycsb.rocksdb;

import dev.sluice.ycsb.PrepareStep;
import dev.sluice.ycsb.Setting;
import dev.sluice.ycsb.StoreBinding;
import java.util.List;
import site.ycsb.DB;

/** RocksDB for {@code sluice-ycsb}. */
public final class RocksDbBinding implements StoreBinding {

  /** Made by the service loader. */
  public RocksDbBinding() {}

  @Override
  public String name() {
    return "rocksdb";
  }

  @Override
  public String summary() {
    return "RocksDB inside this process, by rocksdbjni: a key and value per record";
  }

  @Override
  public DB newDb() {
    return new RocksDbClient();
  }

  @Override
  public List<Setting> settings() {
    return RocksDbSettings.all();
  }

  @Override
  public List<PrepareStep> prepareSteps() {
    return List.of(
        new PrepareStep(
            CREATE_TABLE,
            "make the database with the family; fails if there is one",
            DatabaseSteps::create),
        new PrepareStep(
            DROP_TABLE, "remove the database, with all its families", DatabaseSteps::drop),
        new PrepareStep("flush", "write what is in memory to level 0", DatabaseSteps::flush),
        new PrepareStep(
            "compact", "move all of the family to its last level", DatabaseSteps::compact),
        new PrepareStep(
            "settle", "wait until no flush or compaction is due or runs", DatabaseSteps::settle));
  }
}
