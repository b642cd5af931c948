package dev.sluice.cassandra.commands;

/** It cannot be done; the message says why, and the advice what to do next. */
final class CommandFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String advice;

  CommandFailure(String message, String advice) {
    super(message);
    this.advice = advice;
  }

  String advice() {
    return advice;
  }
}
