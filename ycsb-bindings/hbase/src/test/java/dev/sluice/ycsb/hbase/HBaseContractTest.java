package dev.sluice.ycsb.hbase;

import dev.sluice.ycsb.StoreBinding;
import dev.sluice.ycsb.contract.StoreContract;
import java.util.Properties;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class HBaseContractTest extends StoreContract {
  private static HBaseServer server;

  @BeforeAll
  static void start() throws Exception {
    server = HBaseServer.start();
  }

  @AfterAll
  static void stop() throws Exception {
    server.close();
  }

  @Override
  protected StoreBinding binding() {
    return new HBaseBinding();
  }

  @Override
  protected Properties settings() {
    Properties properties = server.settings();
    properties.setProperty("hbase.regions", "3");
    properties.setProperty("insertorder", "hashed");
    return properties;
  }

  @Override
  protected boolean holdsAnyBytes() {
    return true;
  }

  /** HBase's delete hides what is put in the same millisecond as well. */
  @Override
  protected void awaitNewerVersions() {
    long deletedAtMillis = System.currentTimeMillis();
    while (System.currentTimeMillis() <= deletedAtMillis) {
      Thread.onSpinWait();
    }
  }
}
