package dev.sluice.hbase.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.apache.hadoop.hbase.TableName;

class FigureNameTest {
  private static final String FORM = "^[a-z][a-z0-9_]{0,127}$";

  @Provide
  Arbitrary<CacheScope> scopes() {
    Arbitrary<String> table =
        Arbitraries.strings()
            .withCharRange('a', 'c')
            .withChars("AB-_2f")
            .ofMinLength(1)
            .ofMaxLength(90)
            .filter(name -> !name.startsWith("-"));
    Arbitrary<String> family =
        Arbitraries.strings().withCharRange('a', 'c').withChars("_-2fÄ ").ofMaxLength(60);
    return Combinators.combine(table, family).as((t, f) -> new CacheScope(TableName.valueOf(t), f));
  }

  @Property
  void namesHaveTheFormOfTheProtocolAndAreEachOfOneScope(
      @ForAll("scopes") CacheScope one, @ForAll("scopes") CacheScope other) {
    String name = FigureName.of(one, "evictions_total");
    assertTrue(name.matches(FORM), name);
    if (!one.equals(other)) {
      assertNotEquals(name, FigureName.of(other, "evictions_total"));
    }
  }

  @Example
  void aNameShowsItsScope() {
    CacheScope scope = new CacheScope(TableName.valueOf("shop:orders"), "hot_1");
    assertEquals("cache_shop_3aorders_2fhot_5f1_bytes", FigureName.of(scope, "bytes"));
  }
}
