package dev.sluice.ycsb.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.ycsb.SettingException;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every field is in one family, or the setting is refused with how to write it. */
class FamiliesTest {
  private static String of(Families families, String field) {
    return new String(families.of(field));
  }

  @Test
  void oneFamilyHasAllFields() {
    Families families = Families.parse("f");
    assertEquals(List.of("f"), families.names());
    assertEquals("f", of(families, "field0"));
  }

  @Test
  void familyWithoutListHasTheRest() {
    Families families = Families.parse("hot:field0+field1, cold, third:field9");
    assertEquals(List.of("hot", "cold", "third"), families.names());
    assertEquals("hot", of(families, "field1"));
    assertEquals("cold", of(families, "field2"));
    assertEquals("third", of(families, "field9"));
  }

  @Test
  void fieldOfNoFamilyIsRefused() {
    Families families = Families.parse("hot:field0");
    assertTrue(
        assertThrows(SettingException.class, () -> families.of("field1"))
            .getMessage()
            .contains("'field1'"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''| ''",
        "a,,b| ''",
        "a,b| two families",
        "a:x,a:y| 'a' is there twice",
        "a:x+y,b:y| 'y' is there twice",
        "a:x+,b| no name",
        "a:| no name",
        "a b| 'a b'",
        ".a| '.a'",
        "ä| 'ä'",
      })
  void wrongTextIsRefusedWithTheForm(String text, String why) {
    String message = assertThrows(SettingException.class, () -> Families.parse(text)).getMessage();
    assertTrue(message.contains(why) && message.contains("hot:field0+field1,cold"), message);
  }

  @Test
  void whateverIsAcceptedGivesEachNamedFieldItsFamily() {
    String letters = "ab:+, _.";
    Random random = new Random(2);
    for (int i = 0; i < 20_000; i++) {
      StringBuilder text = new StringBuilder();
      random
          .ints(random.nextInt(12), 0, letters.length())
          .forEach(c -> text.append(letters.charAt(c)));
      try {
        Families families = Families.parse(text.toString());
        assertEquals(text.toString().split(",", -1).length, families.names().size());
      } catch (SettingException e) {
        assertTrue(e.getMessage().contains(text), e.getMessage());
      }
    }
  }
}
