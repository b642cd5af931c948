package dev.sluice.local.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {
  @Test
  void everyKindOfValueIsRead() throws Exception {
    Object value =
        Json.read(" {\"a\": [1, -0.5e2, true, false, null, \"x\"], \"b\": {}, \"c\" :[ ] } ");
    List<Object> list = List.of(1.0, -50.0, true, false, Json.NULL, "x");
    assertEquals(Map.of("a", list, "b", Map.of(), "c", List.of()), value);
  }

  @Test
  void escapesAreRead() throws Exception {
    assertEquals(
        "\"\\/\b\f\n\r\t\u00e9\ud83d\ude00",
        Json.read("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\ude00\""));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "{",
        "[",
        "\"",
        "\"\\",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"\\u12\"",
        "tru",
        "nul",
        "TRUE",
        "01",
        "-",
        "1.",
        ".5",
        "+1",
        "1e",
        "1e+",
        "NaN",
        "Infinity",
        "0x1",
        "1 2",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{a:1}",
        "{'a':1}",
        "{\"a\":1}}",
        "{\"a\":1,\"a\":2}",
        "\"a\nb\"",
        "\u00a01",
        "// x\n1"
      })
  void whatIsNotJsonIsRefused(String text) {
    assertThrows(JsonException.class, () -> Json.read(text));
  }

  @Test
  void aNumberThatADoubleDoesNotHoldIsInfinite() throws Exception {
    assertEquals(Double.POSITIVE_INFINITY, Json.read("1e400"));
    assertEquals(List.of(Double.NEGATIVE_INFINITY), Json.read("[-1e400]"));
    assertThrows(IllegalArgumentException.class, () -> Json.write(Double.POSITIVE_INFINITY));
  }

  @Test
  void deepNestingIsRefusedBeforeTheStackEnds() {
    assertThrows(JsonException.class, () -> Json.read("[".repeat(1_000_000)));
    String deep = "[".repeat(255) + "]".repeat(255);
    assertEquals(deep, roundTrip(deep));
  }

  private static String roundTrip(String text) {
    try {
      return Json.write(Json.read(text));
    } catch (JsonException e) {
      throw new AssertionError(text, e);
    }
  }

  @Property
  void whatIsWrittenIsReadAgain(@ForAll("values") Object value) throws Exception {
    assertEquals(value, Json.read(Json.write(value)));
  }

  @Property(tries = 20_000)
  void noTextDoesAnythingButFailAsItShould(@ForAll("nearlyJson") String text) {
    try {
      Object value = Json.read(text);
      assertEquals(value, Json.read(Json.write(value)));
    } catch (JsonException expected) {
      // Refused; any other exception fails the test.
    } catch (IllegalArgumentException infinite) {
      assertTrue(text.contains("e"), infinite::toString);
    }
  }

  @Provide
  Arbitrary<Object> values() {
    return Arbitraries.lazy(() -> values(3));
  }

  private static Arbitrary<Object> values(int depth) {
    Arbitrary<Object> leaf =
        Arbitraries.oneOf(
            texts().asGeneric(),
            Arbitraries.doubles().map(number -> number == 0 ? 0.0 : number).asGeneric(),
            Arbitraries.of(true, false).asGeneric(),
            Arbitraries.just(Json.NULL));
    if (depth == 0) {
      return leaf;
    }
    return Arbitraries.oneOf(
        leaf,
        Arbitraries.lazy(() -> values(depth - 1)).list().ofMaxSize(4).asGeneric(),
        Arbitraries.maps(texts(), Arbitraries.lazy(() -> values(depth - 1)))
            .ofMaxSize(4)
            .asGeneric());
  }

  private static Arbitrary<String> texts() {
    return Arbitraries.strings()
        .ofMaxLength(12)
        .filter(text -> text.chars().noneMatch(unit -> Character.isSurrogate((char) unit)));
  }

  @Provide
  Arbitrary<String> nearlyJson() {
    return Arbitraries.of(
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\"a\"", "\"b\"", "1", "-", "0", ".", "e",
            "+", "true", "null", "\\u", "d83d", " ", "\n", "\u0000", "é")
        .list()
        .ofMaxSize(14)
        .map(parts -> String.join("", parts));
  }
}
