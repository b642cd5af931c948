package dev.sluice.hbase.offload;

import dev.sluice.local.protocol.Json;
import dev.sluice.local.protocol.JsonException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The members of a JSON object that somebody else has written. */
final class Members {
  private final Map<?, ?> members;

  private Members(Map<?, ?> members) {
    this.members = members;
  }

  static Members read(byte[] text) throws StaysLocalException {
    try {
      return of(Json.read(new String(text, StandardCharsets.UTF_8)), "the message");
    } catch (JsonException e) {
      throw new StaysLocalException(Reasons.INVALID, "a message is no JSON: " + e.getMessage());
    }
  }

  private static Members of(Object value, String name) throws StaysLocalException {
    if (value instanceof Map<?, ?> map) {
      return new Members(map);
    }
    throw new StaysLocalException(Reasons.INVALID, name + " is no object");
  }

  boolean has(String name) {
    return members.get(name) != null;
  }

  Members object(String name) throws StaysLocalException {
    return of(members.get(name), name);
  }

  String text(String name) throws StaysLocalException {
    return cast(String.class, name, members.get(name));
  }

  boolean flag(String name) throws StaysLocalException {
    return cast(Boolean.class, name, members.get(name));
  }

  /** A whole number that a double holds. */
  long number(String name) throws StaysLocalException {
    return cast(Double.class, name, members.get(name)).longValue();
  }

  /** A number that is written as a text, since a double does not hold all of them. */
  long longNumber(String name) throws StaysLocalException {
    try {
      return Long.parseLong(text(name));
    } catch (NumberFormatException e) {
      throw new StaysLocalException(Reasons.INVALID, name + " is no whole number");
    }
  }

  byte[] bytes(String name) throws StaysLocalException {
    try {
      return Base64.getDecoder().decode(text(name));
    } catch (IllegalArgumentException e) {
      throw new StaysLocalException(Reasons.INVALID, name + " is not in base64");
    }
  }

  List<String> texts(String name) throws StaysLocalException {
    List<String> texts = new ArrayList<>();
    for (Object each : cast(List.class, name, members.get(name))) {
      texts.add(cast(String.class, name, each));
    }
    return texts;
  }

  List<Members> objects(String name) throws StaysLocalException {
    List<Members> objects = new ArrayList<>();
    for (Object each : cast(List.class, name, members.get(name))) {
      objects.add(of(each, name));
    }
    return objects;
  }

  /** The members of an object whose values are all texts. */
  Map<String, String> textsByName(String name) throws StaysLocalException {
    Map<String, String> texts = new TreeMap<>();
    for (Map.Entry<?, ?> each : object(name).members.entrySet()) {
      texts.put((String) each.getKey(), cast(String.class, name, each.getValue()));
    }
    return texts;
  }

  private static <T> T cast(Class<T> type, String name, Object value) throws StaysLocalException {
    if (type.isInstance(value)) {
      return type.cast(value);
    }
    throw new StaysLocalException(
        Reasons.INVALID, name + " is missing, or no " + type.getSimpleName());
  }
}
