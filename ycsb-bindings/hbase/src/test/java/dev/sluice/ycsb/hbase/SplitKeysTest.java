package dev.sluice.ycsb.hbase;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.ycsb.SettingException;
import java.util.Arrays;
import java.util.Properties;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import site.ycsb.measurements.Measurements;
import site.ycsb.workloads.CoreWorkload;

/** Regions get equal shares of the keys that YCSB itself makes. */
class SplitKeysTest {
  private static final int RECORDS = 300_000;

  /** Opens YCSB's own rule to the test. */
  private static final class Keys extends CoreWorkload {
    Keys(boolean ordered, int padding) {
      orderedinserts = ordered;
      zeropadding = padding;
    }

    String of(long number) {
      return buildKeyName(number);
    }
  }

  @BeforeAll
  static void configureYcsb() {
    Measurements.setProperties(new Properties());
  }

  private static Properties workload(String order, int padding) {
    Properties properties = new Properties();
    properties.setProperty("recordcount", Integer.toString(RECORDS));
    properties.setProperty("insertorder", order);
    properties.setProperty("zeropadding", Integer.toString(padding));
    return properties;
  }

  @ParameterizedTest
  @CsvSource({
    "hashed, 1, 3",
    "hashed, 1, 10",
    "hashed, 19, 10",
    "hashed, 24, 64",
    "ordered, 1, 3",
    "ordered, 1, 10",
    "ordered, 12, 64",
  })
  void regionsGetEqualSharesOfTheRecords(String order, int padding, int regions) {
    TreeMap<String, Integer> counts = new TreeMap<>();
    counts.put("", 0);
    for (byte[] split : SplitKeys.balanced(regions, workload(order, padding))) {
      counts.put(new String(split), 0);
    }
    assertEquals(regions, counts.size());
    Keys keys = new Keys(order.equals("ordered"), padding);
    for (int record = 0; record < RECORDS; record++) {
      counts.merge(counts.floorKey(keys.of(record)), 1, Integer::sum);
    }
    double share = (double) RECORDS / regions;
    counts.forEach((first, count) -> assertEquals(share, count, share * 0.1, first));
  }

  @Test
  void keysAreThoseOfYcsb() {
    Random random = new Random(4);
    for (int i = 0; i < 10_000; i++) {
      long number = random.nextLong() >>> random.nextInt(1, 64);
      boolean ordered = random.nextBoolean();
      int padding = random.nextInt(25);
      assertEquals(new Keys(ordered, padding).of(number), SplitKeys.key(number, ordered, padding));
    }
  }

  @Test
  void splitsAreSortedAndAlwaysTheSame() {
    byte[][] splits = SplitKeys.balanced(50, workload("hashed", 1));
    assertArrayEquals(splits, SplitKeys.balanced(50, workload("hashed", 1)));
    byte[][] sorted = splits.clone();
    Arrays.sort(sorted, Arrays::compareUnsigned);
    assertArrayEquals(sorted, splits);
  }

  @Test
  void hashedKeysNeedNoCount() {
    assertEquals(3, SplitKeys.balanced(4, new Properties()).length);
    Properties ordered = new Properties();
    ordered.setProperty("insertorder", "ordered");
    String message = refusal(4, ordered);
    assertTrue(message.contains("recordcount"), message);
  }

  @Test
  void oneRegionNeedsNothing() {
    Properties ordered = new Properties();
    ordered.setProperty("insertorder", "ordered");
    assertEquals(0, SplitKeys.balanced(1, ordered).length);
  }

  @Test
  void loadOfAPartIsSplitByItsPart() {
    Properties part = workload("ordered", 8);
    part.setProperty("insertstart", "100000");
    part.setProperty("insertcount", "50000");
    assertArrayEquals(new byte[][] {"user00125000".getBytes()}, SplitKeys.balanced(2, part));
  }

  @ParameterizedTest
  @CsvSource({
    "recordcount, many",
    "recordcount, -1",
    "zeropadding, x",
    "insertstart, -5",
    "recordcount, 3"
  })
  void wrongPropertiesAreNamed(String name, String value) {
    Properties properties = workload("hashed", 1);
    properties.setProperty(name, value);
    String message = refusal(4, properties);
    assertTrue(message.contains(name), message);
  }

  private static String refusal(int regions, Properties properties) {
    return assertThrows(SettingException.class, () -> SplitKeys.balanced(regions, properties))
        .getMessage();
  }
}
