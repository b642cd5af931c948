package dev.sluice.ycsb.ignite;

import dev.sluice.ycsb.StoreBinding;
import dev.sluice.ycsb.contract.StoreContract;
import java.util.Properties;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

@Tag(IgniteServer.TAG)
class IgniteContractTest extends StoreContract {
  private static IgniteServer server;

  @BeforeAll
  static void start() throws Exception {
    server = IgniteServer.start();
  }

  @AfterAll
  static void stop() throws Exception {
    server.close();
  }

  @Override
  protected StoreBinding binding() {
    return new IgniteBinding();
  }

  @Override
  protected Properties settings() {
    return server.settings();
  }

  @Override
  protected boolean holdsAnyBytes() {
    return true;
  }
}
