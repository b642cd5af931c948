package dev.sluice.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IdentifierTest {
  @Test
  void aNameIsQuoted() {
    assertEquals("\"usertable\"", Identifier.quote("usertable"));
    assertEquals("\"_F0\"", Identifier.quote("_F0", 3));
    assertEquals("_F0", Identifier.unquote(Identifier.quote("_F0")));
    assertEquals("F0", Identifier.unquote("F0"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "0f", "a-b", "a b", "a\"b", "a;b", "täble", "a.b"})
  void whatCouldEndAStatementIsRefused(String name) {
    assertThrows(SettingException.class, () -> Identifier.quote(name));
    assertThrows(SettingException.class, () -> Identifier.quote(name, 63));
  }

  @Test
  void aNameThatWouldBeCutOffIsRefused() {
    String message =
        assertThrows(SettingException.class, () -> Identifier.quote("abcd", 3)).getMessage();
    assertEquals(
        "'abcd' is not accepted as the name of a table or field; use at most 3 characters",
        message);
  }
}
