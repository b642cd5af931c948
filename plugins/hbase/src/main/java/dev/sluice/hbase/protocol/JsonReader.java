package dev.sluice.hbase.protocol;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads one JSON value (RFC 8259): objects become {@code Map<String, Object>}, arrays {@code
 * List<Object>}, numbers {@code Double}, and null {@link #NULL}. It is as strict as the grammar; a
 * member that comes twice, a number that a double does not hold, and deep nesting are refused too.
 */
final class JsonReader {
  /** What null is read as. */
  static final Object NULL =
      new Object() {
        @Override
        public String toString() {
          return "null";
        }
      };

  /** Far more than any message needs, and far less than a thread's stack holds. */
  static final int MAX_DEPTH = 100;

  private final String text;
  private int at;
  private int depth;

  private JsonReader(String text) {
    this.text = text;
  }

  static Object read(String text) throws JsonException {
    JsonReader reader = new JsonReader(text);
    reader.skipSpace();
    Object value = reader.value();
    reader.skipSpace();
    if (reader.at < text.length()) {
      throw reader.wrong("something follows the value");
    }
    return value;
  }

  private Object value() throws JsonException {
    switch (peek()) {
      case '{':
        return object();
      case '[':
        return array();
      case '"':
        return string();
      case 't':
        return word("true", Boolean.TRUE);
      case 'f':
        return word("false", Boolean.FALSE);
      case 'n':
        return word("null", NULL);
      default:
        return number();
    }
  }

  private Map<String, Object> object() throws JsonException {
    enter();
    Map<String, Object> members = new LinkedHashMap<>();
    if (leave('}')) {
      return members;
    }
    do {
      skipSpace();
      int start = at;
      String name = string();
      skipSpace();
      expect(':');
      skipSpace();
      if (members.put(name, value()) != null) {
        throw new JsonException("a member that is there twice", start);
      }
      skipSpace();
    } while (another('}'));
    return members;
  }

  private List<Object> array() throws JsonException {
    enter();
    List<Object> elements = new ArrayList<>();
    if (leave(']')) {
      return elements;
    }
    do {
      skipSpace();
      elements.add(value());
      skipSpace();
    } while (another(']'));
    return elements;
  }

  private void enter() throws JsonException {
    at++;
    if (++depth > MAX_DEPTH) {
      throw wrong("nesting of more than " + MAX_DEPTH + " levels");
    }
    skipSpace();
  }

  private boolean leave(char end) throws JsonException {
    if (peek() != end) {
      return false;
    }
    at++;
    depth--;
    return true;
  }

  /** Whether a comma follows, rather than the end. */
  private boolean another(char end) throws JsonException {
    if (leave(end)) {
      return false;
    }
    expect(',');
    return true;
  }

  private String string() throws JsonException {
    expect('"');
    StringBuilder value = new StringBuilder();
    for (char next = take(); next != '"'; next = take()) {
      if (next < ' ') {
        throw wrong("a control character in a string");
      }
      value.append(next == '\\' ? escaped() : next);
    }
    replaceLoneSurrogates(value);
    return value.toString();
  }

  private char escaped() throws JsonException {
    char code = take();
    switch (code) {
      case '"':
      case '\\':
      case '/':
        return code;
      case 'b':
        return '\b';
      case 'f':
        return '\f';
      case 'n':
        return '\n';
      case 'r':
        return '\r';
      case 't':
        return '\t';
      case 'u':
        return codeUnit();
      default:
        throw wrong("an unknown escape");
    }
  }

  private char codeUnit() throws JsonException {
    int unit = 0;
    for (int i = 0; i < 4; i++) {
      char digit = take();
      int value = digit < 128 ? Character.digit(digit, 16) : -1;
      if (value < 0) {
        throw wrong("a wrong hexadecimal digit");
      }
      unit = unit << 4 | value;
    }
    return (char) unit;
  }

  /** UTF-8 cannot say them, and what is read is sent again in answers. */
  private static void replaceLoneSurrogates(StringBuilder value) {
    for (int i = 0; i < value.length(); i++) {
      char unit = value.charAt(i);
      if (!Character.isSurrogate(unit)) {
        continue;
      }
      boolean paired =
          Character.isHighSurrogate(unit)
              && i + 1 < value.length()
              && Character.isLowSurrogate(value.charAt(i + 1));
      if (paired) {
        i++;
      } else {
        value.setCharAt(i, '\ufffd');
      }
    }
  }

  private Double number() throws JsonException {
    int start = at;
    skip('-');
    if (!skip('0')) {
      digits();
    }
    if (skip('.')) {
      digits();
    }
    if (skip('e') || skip('E')) {
      if (!skip('+')) {
        skip('-');
      }
      digits();
    }
    double value = Double.parseDouble(text.substring(start, at));
    if (Double.isInfinite(value)) {
      throw new JsonException("a number that a double does not hold", start);
    }
    // Zero has no sign in JSON as it is written here.
    return value + 0.0;
  }

  private void digits() throws JsonException {
    int start = at;
    while (at < text.length() && text.charAt(at) >= '0' && text.charAt(at) <= '9') {
      at++;
    }
    if (at == start) {
      throw wrong("no value");
    }
  }

  private boolean skip(char expected) {
    if (at >= text.length() || text.charAt(at) != expected) {
      return false;
    }
    at++;
    return true;
  }

  private <T> T word(String expected, T value) throws JsonException {
    if (!text.startsWith(expected, at)) {
      throw wrong("no value");
    }
    at += expected.length();
    return value;
  }

  private void skipSpace() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
  }

  private void expect(char expected) throws JsonException {
    if (peek() != expected) {
      throw wrong("no '" + expected + "'");
    }
    at++;
  }

  private char take() throws JsonException {
    char next = peek();
    at++;
    return next;
  }

  private char peek() throws JsonException {
    if (at >= text.length()) {
      throw wrong("an end that is too early");
    }
    return text.charAt(at);
  }

  private JsonException wrong(String what) {
    return new JsonException(what, at);
  }
}
