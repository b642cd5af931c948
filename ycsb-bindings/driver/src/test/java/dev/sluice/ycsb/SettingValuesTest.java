package dev.sluice.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SettingValuesTest {
  private static final Setting SETTING = Setting.of("store.setting", "7", "one of these tests");

  private enum Colour {
    DARK_RED,
    BLUE
  }

  private static SettingValues given(String value) {
    Properties properties = new Properties();
    properties.setProperty(SETTING.name(), value);
    return new SettingValues(properties);
  }

  private static String refused(Runnable reading) {
    return assertThrows(SettingException.class, reading::run).getMessage();
  }

  @Test
  void theDefaultHoldsWhereNothingIsGiven() {
    SettingValues none = new SettingValues(new Properties());
    assertEquals("7", none.text(SETTING));
    assertEquals(7, none.number(SETTING, 0));
  }

  @Test
  void spaceAroundAValueIsNoPartOfIt() {
    assertEquals("a b", given(" a b\t").text(SETTING));
    assertEquals(List.of("a", "b", "", "c"), given(" a , b,,c ").list(SETTING));
    assertEquals(12, given(" 12 ").number(SETTING, 12));
  }

  @Test
  void anEmptyListHasNothing() {
    assertEquals(List.of(), given(" ").list(SETTING));
  }

  @Test
  void whatMustBeSetSaysHow() {
    assertEquals("x", given("x").required(SETTING, "y"));
    assertEquals(
        "store.setting is not set; add -p store.setting=y, or put it into a file that you name"
            + " with -P",
        refused(() -> given(" ").required(SETTING, "y")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "1.5", "-1", "2", "2147483648", "0x10", "many"})
  void noNumberOrOneTooSmallIsRefused(String value) {
    assertEquals(
        "store.setting=" + value + " is not a whole number from 3 up",
        refused(() -> given(value).number(SETTING, 3)));
  }

  @Test
  void onlyTrueAndFalseAreSo() {
    assertTrue(given("true").bool(SETTING));
    assertFalse(given("false").bool(SETTING));
    assertEquals("store.setting=yes; use true or false", refused(() -> given("yes").bool(SETTING)));
  }

  @Test
  void aConstantIsWrittenInLowerCase() {
    assertEquals(Colour.DARK_RED, given("dark_red").one(SETTING, Colour.class));
    assertEquals(
        "store.setting=BLUE; use one of [dark_red, blue]",
        refused(() -> given("BLUE").one(SETTING, Colour.class)));
  }
}
