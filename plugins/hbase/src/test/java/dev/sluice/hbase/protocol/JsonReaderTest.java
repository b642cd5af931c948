package dev.sluice.hbase.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

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

class JsonReaderTest {
  @Test
  void everyKindOfValueIsRead() throws Exception {
    Object value =
        JsonReader.read(" {\"a\": [1, -0.5e2, true, false, null, \"x\"], \"b\": {}, \"c\" :[ ] } ");
    List<Object> list = List.of(1.0, -50.0, true, false, JsonReader.NULL, "x");
    assertEquals(Map.of("a", list, "b", Map.of(), "c", List.of()), value);
  }

  @Test
  void escapesAreRead() throws Exception {
    assertEquals(
        "\"\\/\b\f\n\r\t\u00e9\ud83d\ude00",
        JsonReader.read("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\ude00\""));
  }

  @Test
  void loneSurrogatesAreReplaced() throws Exception {
    assertEquals("\ufffdx\ufffd", JsonReader.read("\"\\ud83dx\\ude00\""));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", " ", "{", "[", "\"", "\"\\", "\"\\x\"", "\"\\u12g4\"", "\"\\u12\"", "tru", "nul", "TRUE",
        "01", "-", "1.", ".5", "+1", "1e", "1e+", "NaN", "Infinity", "1e400", "-1e400", "0x1", "1 2",
        "[1,]", "[,1]", "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{'a':1}", "{\"a\":1}}",
        "{\"a\":1,\"a\":2}", "\"a\nb\"", "\u00a01", "// x\n1", "\ufeff1"
      })
  void whatIsNotJsonIsRefused(String text) {
    assertThrows(JsonException.class, () -> JsonReader.read(text));
  }

  @Test
  void deepNestingIsRefusedBeforeTheStackEnds() {
    assertThrows(JsonException.class, () -> JsonReader.read("[".repeat(1_000_000)));
    String most = "[".repeat(JsonReader.MAX_DEPTH) + "]".repeat(JsonReader.MAX_DEPTH);
    assertEquals(most.length(), roundTrip(most).length());
  }

  private static String roundTrip(String text) {
    try {
      return JsonText.of(JsonReader.read(text));
    } catch (JsonException e) {
      throw new AssertionError(text, e);
    }
  }

  @Property
  void whatIsWrittenIsReadAgain(@ForAll("values") Object value) throws Exception {
    assertEquals(value, JsonReader.read(JsonText.of(value)));
  }

  @Property(tries = 20_000)
  void noTextDoesAnythingButFailAsItShould(@ForAll("nearlyJson") String text) {
    try {
      Object value = JsonReader.read(text);
      assertEquals(value, JsonReader.read(JsonText.of(value)));
    } catch (JsonException expected) {
      // Refused; any other exception fails the test.
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
            Arbitraries.just(JsonReader.NULL));
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
            "{", "}", "[", "]", ",", ":", "\"", "\\", "\"a\"", "\"b\"", "1", "-", "0", ".", "e", "+",
            "true", "null", "\\u", "d83d", " ", "\n", "\u0000", "é")
        .list()
        .ofMaxSize(14)
        .map(parts -> String.join("", parts));
  }
}
