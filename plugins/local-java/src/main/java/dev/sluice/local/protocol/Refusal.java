package dev.sluice.local.protocol;

import java.util.LinkedHashMap;
import java.util.Map;

/** A request is refused, and has changed nothing. */
public final class Refusal extends Exception {
  private static final long serialVersionUID = 1L;

  // Bounds what an answer repeats of the input that it is about.
  private static final int MAX_MESSAGE_CHARACTERS = 1000;

  enum Code {
    PARSE(-32700, "incompatible"),
    REQUEST(-32600, "incompatible"),
    METHOD(-32601, "unsupported"),
    INVALID(-32602, "invalid"),
    INTERNAL(-32603, "unavailable"),
    UNSUPPORTED(-32001, "unsupported"),
    CONFLICT(-32002, "conflict"),
    REFUSED(-32003, "refused"),
    NOT_FOUND(-32004, "not-found"),
    UNAVAILABLE(-32005, "unavailable"),
    INCOMPATIBLE(-32007, "incompatible");

    final int number;
    final String word;

    Code(int number, String word) {
      this.number = number;
      this.word = word;
    }
  }

  private final Code code;
  private final String hint;

  Refusal(Code code, String message, String hint) {
    super(shorten(message));
    this.code = code;
    this.hint = hint;
  }

  /** The store's limits forbid it now, or there is nothing to start. */
  public static Refusal refused(String message, String hint) {
    return new Refusal(Code.REFUSED, message, hint);
  }

  /** There is no such scope. */
  public static Refusal notFound(String message, String hint) {
    return new Refusal(Code.NOT_FOUND, message, hint);
  }

  /** A value is wrong. */
  public static Refusal invalid(String message, String hint) {
    return new Refusal(Code.INVALID, message, hint);
  }

  /** The store does not answer now. */
  public static Refusal unavailable(String message, String hint) {
    return new Refusal(Code.UNAVAILABLE, message, hint);
  }

  public int number() {
    return code.number;
  }

  private static String shorten(String message) {
    return message.length() <= MAX_MESSAGE_CHARACTERS
        ? message
        : message.substring(0, MAX_MESSAGE_CHARACTERS) + "...";
  }

  Map<String, Object> toJson() {
    Map<String, Object> data = new LinkedHashMap<>();
    data.put("code", code.word);
    if (!hint.isEmpty()) {
      data.put("hint", hint);
    }
    Map<String, Object> error = new LinkedHashMap<>();
    error.put("code", code.number);
    error.put("message", getMessage());
    error.put("data", data);
    return error;
  }
}
