package dev.sluice.ycsb.rocksdb;

import dev.sluice.ycsb.StoreBinding;
import dev.sluice.ycsb.contract.StoreContract;
import java.nio.file.Path;
import java.util.Properties;
import org.junit.jupiter.api.io.TempDir;

class RocksDbContractTest extends StoreContract {
  @TempDir private static Path directory;

  @Override
  protected StoreBinding binding() {
    return new RocksDbBinding();
  }

  /** A buffer so small that the workloads flush and compact. */
  @Override
  protected Properties settings() {
    Properties properties = new Properties();
    properties.setProperty("rocksdb.directory", directory.resolve("database").toString());
    properties.setProperty("rocksdb.family", "table");
    properties.setProperty("rocksdb.databaseoptions", "max_background_jobs=4");
    properties.setProperty("rocksdb.familyoptions", "write_buffer_size=65536");
    return properties;
  }

  @Override
  protected boolean holdsAnyBytes() {
    return true;
  }
}
