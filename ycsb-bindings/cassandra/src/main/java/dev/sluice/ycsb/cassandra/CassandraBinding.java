package dev.sluice.ycsb.cassandra;

import dev.sluice.ycsb.PrepareStep;
import dev.sluice.ycsb.Setting;
import dev.sluice.ycsb.StoreBinding;
import java.util.List;
import java.util.Properties;
import site.ycsb.DB;

/** Apache Cassandra for {@code sluice-ycsb}. */
public final class CassandraBinding implements StoreBinding {

  /** Made by the service loader. */
  public CassandraBinding() {}

  @Override
  public String name() {
    return "cassandra";
  }

  @Override
  public String summary() {
    return "Apache Cassandra by its Java driver: a partition per record, scans by token";
  }

  @Override
  public DB newDb() {
    return new CassandraYcsbClient();
  }

  @Override
  public String scope(Properties properties, String table) {
    return CassandraSettings.of(properties).keyspace() + "." + table;
  }

  @Override
  public List<Setting> settings() {
    return CassandraSettings.all();
  }

  @Override
  public List<PrepareStep> prepareSteps() {
    return List.of(
        new PrepareStep(
            CREATE_TABLE,
            "create the table, and its keyspace unless there is one; fails if the table exists",
            TableSteps::create),
        new PrepareStep(DROP_TABLE, "drop the table if it exists", TableSteps::drop));
  }
}
