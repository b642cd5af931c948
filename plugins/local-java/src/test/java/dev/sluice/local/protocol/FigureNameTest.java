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
    check("cache", one, other, "evictions_total");
    check("volume_ram_disk", one, other, "redirected_replicas_total");
  }

  private static void check(String prefix, String one, String other, String suffix) {
    String name = FigureName.of(prefix, one, suffix);
    assertTrue(name.matches(FORM), name);
    if (!one.equals(other)) {
      assertNotEquals(name, FigureName.of(prefix, other, suffix));
    }
  }

  @Example
  void aNameShowsItsPart() {
    assertEquals(
        "cache_shop_3aorders_2fhot_5f1_bytes",
        FigureName.of("cache", "shop:orders/hot_1", "bytes"));
  }
}
