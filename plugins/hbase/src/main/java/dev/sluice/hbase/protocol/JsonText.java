package dev.sluice.hbase.protocol;

import java.util.Iterator;
import java.util.List;
import java.util.Map;

/** Writes JSON of maps, lists, texts, numbers and booleans, on one line. */
final class JsonText {
  // Up to here a double holds every whole number.
  private static final double MAX_WHOLE = 1L << 53;

  private JsonText() {}

  static String of(Object value) {
    StringBuilder text = new StringBuilder();
    append(text, value);
    return text.toString();
  }

  static void append(StringBuilder text, Object value) {
    if (value instanceof Map<?, ?> members) {
      appendMembers(text, members);
    } else if (value instanceof List<?> elements) {
      appendElements(text, elements);
    } else if (value instanceof String string) {
      appendString(text, string);
    } else if (value instanceof Double || value instanceof Float) {
      appendNumber(text, ((Number) value).doubleValue());
    } else {
      text.append(value);
    }
  }

  private static void appendMembers(StringBuilder text, Map<?, ?> members) {
    text.append('{');
    for (Iterator<? extends Map.Entry<?, ?>> entries = members.entrySet().iterator();
        entries.hasNext(); ) {
      Map.Entry<?, ?> entry = entries.next();
      appendString(text, entry.getKey().toString());
      text.append(':');
      append(text, entry.getValue());
      if (entries.hasNext()) {
        text.append(',');
      }
    }
    text.append('}');
  }

  private static void appendElements(StringBuilder text, List<?> elements) {
    text.append('[');
    for (int i = 0; i < elements.size(); i++) {
      if (i > 0) {
        text.append(',');
      }
      append(text, elements.get(i));
    }
    text.append(']');
  }

  /** JSON has neither infinity nor NaN: no message of the protocol may hold one. */
  private static void appendNumber(StringBuilder text, double number) {
    if (Double.isNaN(number) || Double.isInfinite(number)) {
      throw new IllegalArgumentException(number + " is no number in JSON");
    }
    if (number == Math.rint(number) && Math.abs(number) <= MAX_WHOLE) {
      text.append((long) number);
    } else {
      text.append(number);
    }
  }

  private static void appendString(StringBuilder text, String string) {
    text.append('"');
    for (int i = 0; i < string.length(); i++) {
      char unit = string.charAt(i);
      if (unit == '"' || unit == '\\') {
        text.append('\\').append(unit);
      } else if (unit < ' ') {
        text.append(String.format("\\u%04x", (int) unit));
      } else {
        text.append(unit);
      }
    }
    text.append('"');
  }
}
