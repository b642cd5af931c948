package dev.sluice.ycsb.postgres;

import dev.sluice.ycsb.StoreBinding;
import dev.sluice.ycsb.contract.StoreContract;
import java.util.Properties;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class PostgresContractTest extends StoreContract {
  private static PostgresServer server;

  @BeforeAll
  static void start() throws Exception {
    server = PostgresServer.start();
  }

  @AfterAll
  static void stop() throws Exception {
    server.close();
  }

  @Override
  protected StoreBinding binding() {
    return new PostgresBinding();
  }

  @Override
  protected Properties settings() {
    return server.settings();
  }

  @Override
  protected boolean holdsAnyBytes() {
    return false;
  }
}
