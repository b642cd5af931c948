package dev.sluice.hbase.latency;

import java.util.Locale;

/** The classes of requests that the local protocol knows. */
enum RequestClass {
  READ,
  WRITE;

  String text() {
    return name().toLowerCase(Locale.ROOT);
  }
}
