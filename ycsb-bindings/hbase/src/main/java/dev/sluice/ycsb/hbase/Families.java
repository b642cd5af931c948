package dev.sluice.ycsb.hbase;

import dev.sluice.ycsb.SettingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The column families of the table, and which of them a field is in. Written as {@code
 * hot:field0+field1,cold}: a family with a list has these fields, the one without has the rest.
 */
final class Families {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_.-]*");

  private final String text;
  private final List<String> names = new ArrayList<>();
  private final Map<String, byte[]> familyOfField = new HashMap<>();
  private byte[] rest;

  private Families(String text) {
    this.text = text;
  }

  /**
   * Reads what a user wrote.
   *
   * @throws SettingException when it is not of the form above, or a family or field is there twice
   */
  static Families parse(String text) {
    Families families = new Families(text);
    for (String part : text.split(",", -1)) {
      families.add(part.trim());
    }
    return families;
  }

  /** All families in the order given. */
  List<String> names() {
    return names;
  }

  /**
   * The family of a field.
   *
   * @throws SettingException when no family has it
   */
  byte[] of(String field) {
    byte[] family = familyOfField.getOrDefault(field, rest);
    if (family == null) {
      throw refusal("no family has the field '" + field + "'; add a family without a list");
    }
    return family;
  }

  private void add(String part) {
    String[] nameAndFields = part.split(":", 2);
    String name = nameAndFields[0].trim();
    if (!NAME.matcher(name).matches()) {
      throw refusal("'" + name + "' is not accepted as the name of a family");
    }
    if (names.contains(name)) {
      throw refusal("the family '" + name + "' is there twice");
    }
    names.add(name);
    byte[] family = name.getBytes(StandardCharsets.UTF_8);
    if (nameAndFields.length == 2) {
      Arrays.stream(nameAndFields[1].split("\\+", -1)).forEach(f -> addField(f.trim(), family));
      return;
    }
    if (rest != null) {
      throw refusal("two families have no list of fields");
    }
    rest = family;
  }

  private void addField(String field, byte[] family) {
    if (field.isEmpty()) {
      throw refusal("a field has no name");
    }
    if (familyOfField.put(field, family) != null) {
      throw refusal("the field '" + field + "' is there twice");
    }
  }

  private SettingException refusal(String why) {
    return new SettingException(
        HBaseSettings.FAMILIES.name()
            + "="
            + text
            + ": "
            + why
            + "; write it like hot:field0+field1,cold");
  }
}
