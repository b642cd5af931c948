package dev.sluice.hbase.regionserver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.AlphaChars;
import net.jqwik.api.constraints.NotEmpty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OperationNameTest {
  @Property
  void aFamilyMayHaveAnyName(@ForAll @AlphaChars @NotEmpty String region, @ForAll String family) {
    assertEquals(
        new OperationName(region, family),
        OperationName.parse(region + "#" + family + "#compaction#17").orElseThrow());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "#", "##", "a", "a#b", "a#b#1", "#f#compaction#1"})
  void whatIsNoNameIsNone(String text) {
    assertTrue(OperationName.parse(text).isEmpty());
  }

  @Property
  void noTextFails(@ForAll String text) {
    OperationName.parse(text);
  }
}
