package dev.sluice.hbase.compaction;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Optional;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class QueuedCompactionTest {
  private static final String REGION = "0123456789abcdef0123456789abcdef";

  @Test
  void oneWithItsFilesIsRead() {
    String line =
        "    Request=regionName=t,a,1700000000000."
            + REGION
            + "., storeName=f, fileCount=2, fileSize=3.1 K (1.5 K, 1.6 K), priority=1, time=1700";
    assertEquals(
        Optional.of(new QueuedCompaction(REGION + "#f", 1700)), QueuedCompaction.parse(line));
  }

  @Test
  void oneWithoutFilesIsRead() {
    String line =
        "    region=ns:t,,1700000000000."
            + REGION
            + "., storeName="
            + REGION
            + "/f-2, priority=13, startTime=1701";
    assertEquals(
        Optional.of(new QueuedCompaction(REGION + "#f-2", 1701)), QueuedCompaction.parse(line));
  }

  @Test
  void aKeyThatLooksLikeAnotherRegionIsPassedOver() {
    String key = "x." + "f".repeat(32) + "., storeName=g, priority=1, startTime=1";
    String line =
        "    region=t,%s,1700.%s., storeName=%s/f, priority=13, startTime=1701"
            .formatted(key, REGION, REGION);
    assertEquals(
        Optional.of(new QueuedCompaction(REGION + "#f", 1701)), QueuedCompaction.parse(line));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "Compaction/Split Queue dump:",
        "  LargeCompation Queue:",
        "    region=hbase:meta,,1.1588230740, storeName=1588230740/info, priority=1, startTime=1"
      })
  void otherLinesAreNone(String line) {
    assertEquals(Optional.empty(), QueuedCompaction.parse(line));
  }

  @Property
  void noLineFails(@ForAll String line) {
    assertEquals(Optional.empty(), QueuedCompaction.parse(line));
  }
}
