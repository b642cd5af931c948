package dev.sluice.local.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class FigureNameTest {
  private static final String FORM = "^[a-z][a-z0-9_]{0,127}$";

  @Provide
  Arbitrary<String> parts() {
    return Arbitraries.strings()
        .withCharRange('a', 'c')
        .withChars("AB-_2f/Ä ")
        .ofMinLength(1)
        .ofMaxLength(150);
  }

  @Property
  void namesHaveTheFormOfTheProtocolAndAreEachOfOnePart(
      @ForAll("parts") String one, @ForAll("parts") String other) {
    String name = FigureName.of("cache", one, "evictions_total");
    assertTrue(name.matches(FORM), name);
    if (!one.equals(other)) {
      assertNotEquals(name, FigureName.of("cache", other, "evictions_total"));
    }
  }

  @Example
  void aNameShowsItsPart() {
    assertEquals(
        "cache_shop_3aorders_2fhot_5f1_bytes",
        FigureName.of("cache", "shop:orders/hot_1", "bytes"));
  }
}
