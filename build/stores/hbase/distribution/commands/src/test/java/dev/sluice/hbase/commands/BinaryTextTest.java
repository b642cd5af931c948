package dev.sluice.hbase.commands;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BinaryTextTest {
  private static final int ROUNDS = 5000;
  private static final int LONGEST = 40;

  @Test
  void anyBytesComeBack() {
    SplittableRandom random = new SplittableRandom(1);
    for (int round = 0; round < ROUNDS; round++) {
      byte[] bytes = new byte[random.nextInt(LONGEST)];
      random.nextBytes(bytes);
      String text = BinaryText.format(bytes);
      assertTrue(text.chars().allMatch(c -> c >= ' ' && c <= '~'), text);
      assertArrayEquals(bytes, BinaryText.parse(text), text);
    }
  }

  @Test
  void anyTextIsParsedOrRefused() {
    SplittableRandom random = new SplittableRandom(2);
    String alphabet = "\\x0fFg\tä€ ";
    for (int round = 0; round < ROUNDS; round++) {
      StringBuilder text = new StringBuilder();
      for (int length = random.nextInt(LONGEST); length > 0; length--) {
        text.append(alphabet.charAt(random.nextInt(alphabet.length())));
      }
      parsesOrRefuses(text.toString());
    }
  }

  private static void parsesOrRefuses(String text) {
    try {
      byte[] bytes = BinaryText.parse(text);
      assertArrayEquals(bytes, BinaryText.parse(BinaryText.format(bytes)), text);
    } catch (CommandFailure e) {
      assertTrue(text.contains("\\"), text);
    }
  }

  @Test
  void othersAreUtf8() {
    assertArrayEquals("zoë".getBytes(StandardCharsets.UTF_8), BinaryText.parse("zoë"));
    assertEquals("zo\\xC3\\xAB", BinaryText.format("zoë".getBytes(StandardCharsets.UTF_8)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"\\", "a\\", "\\x", "\\x1", "\\xg0", "\\n", "\\X00"})
  void aBackslashThatBeginsNoByteIsRefused(String text) {
    CommandFailure failure = assertThrows(CommandFailure.class, () -> BinaryText.parse(text));
    assertTrue(failure.advice().contains("\\x5C"), failure.advice());
  }
}
