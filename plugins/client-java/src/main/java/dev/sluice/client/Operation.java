package dev.sluice.client;

import java.util.Locale;

/** What is asked of a store, in the words of the reports. */
public enum Operation {
  READ,
  WRITE;

  String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
