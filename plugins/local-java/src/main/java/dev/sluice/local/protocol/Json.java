package dev.sluice.local.protocol;

import com.google.gson.Strictness;
import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonToken;
import com.google.gson.stream.JsonWriter;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * JSON (RFC 8259) by Gson, which the jar of this library has below a name of its own: objects are
 * {@code Map<String, Object>}, arrays {@code List<Object>}, numbers {@code Double}, and null is
 * {@link #NULL}.
 */
public final class Json {
  /** What null is read as. */
  static final Object NULL =
      new Object() {
        @Override
        public String toString() {
          return "null";
        }
      };

  // Up to here a double holds every whole number.
  private static final double MAX_WHOLE = 1L << 53;

  private Json() {}

  /**
   * Reads one value. A member that comes twice is refused, and nesting of more than the 255 levels
   * that Gson allows. A number that a double does not hold becomes infinite: no bounds allow it.
   */
  public static Object read(String text) throws JsonException {
    JsonReader reader = new JsonReader(new StringReader(text));
    reader.setStrictness(Strictness.STRICT);
    try {
      Object value = value(reader);
      if (reader.peek() != JsonToken.END_DOCUMENT) {
        throw new JsonException("something follows the value");
      }
      return value;
    } catch (IOException e) {
      // What Gson says speaks of its own settings.
      throw new JsonException("it is wrong at " + reader.getPath());
    }
  }

  private static Object value(JsonReader reader) throws IOException, JsonException {
    return switch (reader.peek()) {
      case BEGIN_OBJECT -> object(reader);
      case BEGIN_ARRAY -> array(reader);
      case STRING -> reader.nextString();
      case BOOLEAN -> reader.nextBoolean();
      // Zero has no sign in JSON as it is written here.
      case NUMBER -> Double.parseDouble(reader.nextString()) + 0.0;
      default -> {
        reader.nextNull();
        yield NULL;
      }
    };
  }

  private static Map<String, Object> object(JsonReader reader) throws IOException, JsonException {
    Map<String, Object> members = new LinkedHashMap<>();
    reader.beginObject();
    while (reader.hasNext()) {
      String name = reader.nextName();
      if (members.put(name, value(reader)) != null) {
        throw new JsonException("a member is there twice at " + reader.getPath());
      }
    }
    reader.endObject();
    return members;
  }

  private static List<Object> array(JsonReader reader) throws IOException, JsonException {
    List<Object> elements = new ArrayList<>();
    reader.beginArray();
    while (reader.hasNext()) {
      elements.add(value(reader));
    }
    reader.endArray();
    return elements;
  }

  /** Writes a value on one line; numbers that are not finite are no JSON, and refused. */
  public static String write(Object value) {
    StringWriter text = new StringWriter();
    JsonWriter writer = new JsonWriter(text);
    writer.setStrictness(Strictness.STRICT);
    try {
      append(writer, value);
    } catch (IOException e) {
      throw new IllegalStateException("memory does not take a text", e);
    }
    return text.toString();
  }

  private static void append(JsonWriter writer, Object value) throws IOException {
    if (value instanceof Map<?, ?> members) {
      writer.beginObject();
      for (Map.Entry<?, ?> member : members.entrySet()) {
        writer.name(member.getKey().toString());
        append(writer, member.getValue());
      }
      writer.endObject();
    } else if (value instanceof List<?> elements) {
      writer.beginArray();
      for (Object element : elements) {
        append(writer, element);
      }
      writer.endArray();
    } else if (value instanceof String string) {
      writer.value(string);
    } else if (value instanceof Boolean flag) {
      writer.value(flag);
    } else if (value instanceof Number number) {
      appendNumber(writer, number);
    } else {
      writer.nullValue();
    }
  }

  /** A whole number has no fraction: an id is repeated as it was sent. */
  private static void appendNumber(JsonWriter writer, Number number) throws IOException {
    double value = number.doubleValue();
    if (value == Math.rint(value) && Math.abs(value) <= MAX_WHOLE) {
      writer.value((long) value);
    } else {
      writer.value(value);
    }
  }
}
