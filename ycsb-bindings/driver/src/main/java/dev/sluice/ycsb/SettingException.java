package dev.sluice.ycsb;

/** A property or a file of the user's is missing or wrong; the message says what to do about it. */
public final class SettingException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /**
   * An exception with this message.
   *
   * @param message what is wrong and what to do next
   */
  public SettingException(String message) {
    super(message);
  }
}
