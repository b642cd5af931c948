package dev.sluice.hbase.offload;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

class OffloadMessagesTest {
  @Property
  void aRequestComesAsItWasSent(
      @ForAll byte[] region, @ForAll String family, @ForAll long readPoint, @ForAll long now)
      throws StaysLocalException {
    String readable = new String(family.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
    OffloadRequest sent =
        new OffloadRequest(
            region, region, readable, List.of(), List.of(), readPoint, true, false, now, Map.of());
    OffloadRequest read = OffloadRequest.decode(sent.encode());
    assertArrayEquals(region, read.region());
    assertEquals(readable, read.family());
    assertEquals(readPoint, read.smallestReadPoint());
    assertEquals(now, read.nowMillis());
    assertTrue(read.isMajor());
    assertFalse(read.isAllFiles());
  }

  @Test
  void filesAndSettingsComeAsTheyWereSent() throws StaysLocalException {
    OffloadRequest sent =
        new OffloadRequest(
            new byte[1],
            new byte[2],
            "f",
            List.of("ab", "cd"),
            List.of("ef"),
            1,
            false,
            true,
            2,
            Map.of("hfile.format.version", "3"));
    OffloadRequest read = OffloadRequest.decode(sent.encode());
    assertEquals(sent.files(), read.files());
    assertEquals(sent.compactedFiles(), read.compactedFiles());
    assertEquals(sent.settings(), read.settings());
  }

  @Property
  void whateverComesIsReadOrRefused(@ForAll byte[] text) {
    try {
      OffloadOutcome.decode(text);
    } catch (StaysLocalException e) {
      assertEquals(Reasons.INVALID, e.reason());
    }
  }

  @Test
  void anOutcomeComesAsItWasSent() throws StaysLocalException {
    OffloadOutcome sent =
        new OffloadOutcome(List.of(new OffloadOutcome.OutputFile("ab", 1L << 40, 7)), 7, 70);
    assertEquals(sent, OffloadOutcome.decode(sent.encode()));
    assertThrows(
        StaysLocalException.class,
        () -> OffloadOutcome.decode("{\"files\":[7]}".getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void versionsAreToldApart() {
    HBaseVersion store = HBaseVersion.parse("2.6.4-hadoop3-testing");
    assertEquals(new HBaseVersion(2, 6, 4), store);
    assertTrue(HBaseVersion.parse("2.6.5").serves(store));
    assertFalse(HBaseVersion.parse("2.6.3").serves(store));
    assertFalse(HBaseVersion.parse("2.7.4").serves(store));
    assertFalse(HBaseVersion.parse("3.6.4").serves(store));
  }

  /** Classes, keys and the size of memory are each node's own. */
  @Test
  void settingsThatDecideWhatIsWrittenAreShipped() {
    Configuration conf = new Configuration(false);
    conf.set("hfile.format.version", "3");
    conf.set("hbase.hstore.time.to.purge.deletes", "7");
    conf.set("hbase.hstore.defaultengine.compactor.class", "a.Class");
    conf.set("hbase.crypto.keyprovider.parameters", "secret");
    conf.set("hfile.block.cache.size", "0.4");
    conf.set("hbase.io.compress.lz4.codec", "a.Codec");
    assertEquals(
        Map.of("hfile.format.version", "3", "hbase.hstore.time.to.purge.deletes", "7"),
        ShippedSettings.of(conf));
  }

  @Test
  void aSocketIsAnAbsolutePath() {
    assertEquals(Optional.of(Path.of("/run/s")), OffloadingCompactor.socket("/run/s"));
    for (String none : List.of("", OffloadingCompactor.NONE, "run/s", "/run/\0")) {
      assertEquals(Optional.empty(), OffloadingCompactor.socket(none));
    }
  }

  @Test
  void reasonsAreCountedWithinBounds() {
    OffloadCounts counts = new OffloadCounts();
    for (int number = 0; number < 100; number++) {
      counts.local("reason-" + (char) ('a' + number / 26) + (char) ('a' + number % 26));
    }
    counts.local("reason-aa");
    counts.done(5);
    assertEquals(2, counts.localTotal("reason-aa"));
    assertEquals(36, counts.localTotal("other"));
    assertEquals(1, counts.doneTotal());
    assertEquals(Reasons.INVALID, Reasons.checked("a reason\n"));
  }
}
