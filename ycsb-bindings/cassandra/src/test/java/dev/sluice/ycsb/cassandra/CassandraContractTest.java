package dev.sluice.ycsb.cassandra;

import com.datastax.oss.driver.api.core.metadata.token.Token;
import com.datastax.oss.driver.internal.core.metadata.token.Murmur3TokenFactory;
import dev.sluice.ycsb.StoreBinding;
import dev.sluice.ycsb.contract.StoreContract;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.Properties;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;

@Tag(CassandraServer.TAG)
class CassandraContractTest extends StoreContract {
  private static CassandraServer server;

  @BeforeAll
  static void start() throws Exception {
    server = CassandraServer.start();
  }

  @AfterAll
  static void stop() throws Exception {
    server.close();
  }

  @Override
  protected StoreBinding binding() {
    return new CassandraBinding();
  }

  @Override
  protected Properties settings() {
    return server.settings();
  }

  @Override
  protected boolean holdsAnyBytes() {
    return true;
  }

  /** By the hash of the key, which is what partitions are sorted by. */
  @Override
  protected Comparator<String> scanOrder() {
    return Comparator.comparing(CassandraContractTest::token);
  }

  private static Token token(String key) {
    return new Murmur3TokenFactory().hash(ByteBuffer.wrap(key.getBytes(StandardCharsets.UTF_8)));
  }
}
