package dev.sluice.local.protocol;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers lines: JSON-RPC 2.0 as far as it does not depend on the method. */
final class Requests {
  private static final Logger LOG = LoggerFactory.getLogger(Requests.class);

  /** Longest line in both directions, its newline not counted. */
  static final int MAX_LINE_BYTES = 1 << 20;

  private static final double MAX_ID = (1L << 53) - 1.0;
  private static final int MAX_ID_CHARACTERS = 64;
  private static final String ONE_OBJECT = "Send one JSON object on each line.";

  private final Orders orders;

  Requests(Orders orders) {
    this.orders = orders;
  }

  /** The answer to a line; neither has a newline. */
  byte[] answer(byte[] line) {
    Object id = Json.NULL;
    try {
      Map<String, Object> request = object(line);
      id = id(request);
      return result(id, call(request));
    } catch (Refusal refusal) {
      return error(id, refusal);
    } catch (RuntimeException | LinkageError failure) {
      // The latter where this version of the store has not what is asked for.
      LOG.error("a request has failed in the plug-in", failure);
      return error(
          id,
          new Refusal(
              Refusal.Code.INTERNAL,
              "the plug-in has failed: " + failure,
              "The log of the server says where."));
    }
  }

  /** The answer to a line that is longer than any may be. */
  byte[] tooLong() {
    return error(
        Json.NULL,
        new Refusal(
            Refusal.Code.REQUEST,
            "a line is longer than " + MAX_LINE_BYTES + " bytes",
            "This connection is closed now."));
  }

  /** The answer to a connection that is one too many. */
  byte[] turnedAway(int open) {
    return error(
        Json.NULL,
        Refusal.unavailable(open + " connections are open already", "Close some of them."));
  }

  private static Map<String, Object> object(byte[] line) throws Refusal {
    Object document;
    try {
      document = Json.read(decode(line));
    } catch (JsonException e) {
      throw new Refusal(Refusal.Code.PARSE, "the line is not JSON: " + e.getMessage(), ONE_OBJECT);
    }
    if (document instanceof List<?>) {
      throw notRequest("batches are not taken", ONE_OBJECT);
    }
    if (!(document instanceof Map<?, ?>)) {
      throw notRequest("the line is not a JSON object", ONE_OBJECT);
    }
    @SuppressWarnings("unchecked")
    Map<String, Object> members = (Map<String, Object>) document;
    return members;
  }

  private static String decode(byte[] line) throws Refusal {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(line)).toString();
    } catch (CharacterCodingException e) {
      throw new Refusal(Refusal.Code.PARSE, "the line is not UTF-8", ONE_OBJECT);
    }
  }

  private static Object id(Map<String, Object> request) throws Refusal {
    Object id = request.get("id");
    boolean right =
        id instanceof String text
            ? text.codePointCount(0, text.length()) <= MAX_ID_CHARACTERS
            : id instanceof Double number
                && number >= 0
                && number <= MAX_ID
                && number == Math.rint(number);
    if (!right) {
      throw notRequest(
          "a request needs an id: a whole number of at most 2^53-1, or a text of at most 64"
              + " characters",
          "Notifications are not taken: every request is answered.");
    }
    return id;
  }

  private Map<String, Object> call(Map<String, Object> request) throws Refusal {
    if (!"2.0".equals(request.get("jsonrpc"))) {
      throw notRequest("the member \"jsonrpc\" must be \"2.0\"", "");
    }
    if (!(request.get("method") instanceof String method)) {
      throw notRequest("the member \"method\" must be the name of a method", "");
    }
    Object params = request.getOrDefault("params", Map.of());
    if (!(params instanceof Map<?, ?>)) {
      throw Refusal.invalid("the member \"params\" must be an object", "Params go by name.");
    }
    @SuppressWarnings("unchecked")
    Map<String, Object> members = (Map<String, Object>) params;
    return orders.call(method, new Params("", members));
  }

  private static Refusal notRequest(String message, String hint) {
    return new Refusal(Refusal.Code.REQUEST, message, hint);
  }

  private static byte[] result(Object id, Map<String, Object> result) {
    byte[] line = line(id, "result", result);
    if (line.length <= MAX_LINE_BYTES) {
      return line;
    }
    return error(
        id,
        new Refusal(
            Refusal.Code.INTERNAL,
            "the result takes " + line.length + " bytes, a line holds " + MAX_LINE_BYTES,
            ""));
  }

  private static byte[] error(Object id, Refusal refusal) {
    return line(id, "error", refusal.toJson());
  }

  private static byte[] line(Object id, String name, Map<String, Object> value) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("jsonrpc", "2.0");
    members.put("id", id);
    members.put(name, value);
    return Json.write(members).getBytes(StandardCharsets.UTF_8);
  }
}
