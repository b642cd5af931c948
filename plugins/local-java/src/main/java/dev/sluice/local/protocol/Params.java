package dev.sluice.local.protocol;

import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The members of an object that a client sent: each is read once, and those that are left are
 * refused.
 */
final class Params {
  private final String path;
  private final Map<String, Object> members;
  private final Set<String> read = new HashSet<>();

  Params(String path, Map<String, Object> members) {
    this.path = path;
    this.members = members;
  }

  boolean has(String name) {
    return members.containsKey(name);
  }

  /** Refuses members that nobody has asked for: a misspelt one is not ignored. */
  void refuseOthers() throws Refusal {
    for (String name : members.keySet()) {
      if (!read.contains(name)) {
        throw wrong(name, "is not known");
      }
    }
  }

  /** Takes a member for read, whatever it holds. */
  void skip(String name) {
    read.add(name);
  }

  private Object value(String name) throws Refusal {
    read.add(name);
    Object value = members.get(name);
    if (value == null) {
      throw wrong(name, "is missing");
    }
    return value;
  }

  Params object(String name) throws Refusal {
    Object value = value(name);
    if (!(value instanceof Map<?, ?>)) {
      throw wrong(name, "must be an object");
    }
    @SuppressWarnings("unchecked")
    Map<String, Object> inner = (Map<String, Object>) value;
    return new Params(path + name + ".", inner);
  }

  double number(String name, double minimum, double maximum) throws Refusal {
    if (!(value(name) instanceof Double number)) {
      throw wrong(name, "must be a number");
    }
    if (number < minimum || number > maximum) {
      throw wrong(name, "is " + number + ", not from " + minimum + " to " + maximum);
    }
    return number;
  }

  double wholeNumber(String name, double minimum, double maximum) throws Refusal {
    double number = number(name, minimum, maximum);
    if (number != Math.rint(number)) {
      throw wrong(name, "must be a whole number");
    }
    return number;
  }

  boolean flag(String name) throws Refusal {
    if (!has(name)) {
      return false;
    }
    if (!(value(name) instanceof Boolean flag)) {
      throw wrong(name, "must be true or false");
    }
    return flag;
  }

  /** A text of so many bytes of UTF-8, without control characters. */
  String text(String name, int minimumBytes, int maximumBytes) throws Refusal {
    if (!(value(name) instanceof String text)) {
      throw wrong(name, "must be a text");
    }
    int length = text.getBytes(StandardCharsets.UTF_8).length;
    if (length < minimumBytes || length > maximumBytes) {
      throw wrong(
          name, "has " + length + " bytes, not from " + minimumBytes + " to " + maximumBytes);
    }
    if (text.chars().anyMatch(Character::isISOControl)) {
      throw wrong(name, "has a control character");
    }
    return text;
  }

  Optional<String> optionalText(String name, int minimumBytes, int maximumBytes) throws Refusal {
    return has(name) ? Optional.of(text(name, minimumBytes, maximumBytes)) : Optional.empty();
  }

  /** A name in the form that kinds and settings have; those that are well formed may be unknown. */
  String name(String member, String form) throws Refusal {
    String text = text(member, 1, 63);
    if (!text.matches(form)) {
      throw wrong(member, "must match " + form);
    }
    return text;
  }

  Refusal wrong(String name, String what) {
    return Refusal.invalid(
        "the member \"" + path + name + "\" " + what,
        "docs/local-protocol.md lists the params of each method.");
  }
}
