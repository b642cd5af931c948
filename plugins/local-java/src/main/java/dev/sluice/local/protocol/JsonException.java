package dev.sluice.local.protocol;

/** A text is not JSON. */
public final class JsonException extends Exception {
  private static final long serialVersionUID = 1L;

  JsonException(String what) {
    super(what);
  }
}
