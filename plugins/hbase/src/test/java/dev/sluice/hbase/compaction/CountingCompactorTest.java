package dev.sluice.hbase.compaction;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CountingCompactorTest {
  private final Configuration conf = new Configuration(false);

  @Test
  void readsInChunksUnlessToldOtherwise() {
    assertEquals(128 << 10, CountingCompactor.readBytes(conf));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "1", " 262144 ", "16777216"})
  void takesWhatIsInRange(String value) {
    conf.set(CountingCompactor.READ_BYTES_KEY, value);
    assertEquals(Integer.parseInt(value.trim()), CountingCompactor.readBytes(conf));
  }

  /** Such a value must not keep a region from opening, nor take the memory of a server. */
  @ParameterizedTest
  @ValueSource(strings = {"-1", "16777217", "99999999999999999999", "128k", "true", ""})
  void keepsItsDefaultForAnythingElse(String value) {
    conf.set(CountingCompactor.READ_BYTES_KEY, value);
    assertEquals(CountingCompactor.READ_BYTES, CountingCompactor.readBytes(conf));
  }
}
