package dev.sluice.local.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ScopeTest {
  @Test
  void serverTableAndFamilyAreRead() {
    assertEquals(Scope.SERVER, Scope.parse("").orElseThrow());
    assertEquals(new Scope("t", ""), Scope.parse("t").orElseThrow());
    assertEquals(new Scope("n:t", "f"), Scope.parse("n:t/f").orElseThrow());
  }

  @ParameterizedTest
  @ValueSource(strings = {"/", "/f", "t/", "t/f/g", "//"})
  void whatNamesNoPartIsRefused(String text) {
    assertTrue(Scope.parse(text).isEmpty());
  }

  @Test
  void wideningGoesFromFamilyToServer() {
    Scope family = new Scope("t", "f");
    assertEquals(List.of(family, Scope.ofTable("t"), Scope.SERVER), family.widening());
    assertEquals(List.of(Scope.SERVER), Scope.SERVER.widening());
  }

  @Test
  void aScopeContainsItsParts() {
    Scope family = new Scope("t", "f");
    family.widening().forEach(wider -> assertTrue(wider.contains(family)));
    assertFalse(family.contains(Scope.ofTable("t")));
    assertFalse(new Scope("t", "g").contains(family));
    assertFalse(Scope.ofTable("u").contains(family));
  }

  @Property
  void whatIsReadIsWrittenInTheSameWay(@ForAll String text) {
    Scope.parse(text).ifPresent(scope -> assertEquals(text, scope.text()));
  }
}
