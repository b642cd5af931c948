package dev.sluice.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ErrorLogTest {
  private final ByteArrayOutputStream shown = new ByteArrayOutputStream();
  private final ErrorLog log =
      new ErrorLog("store", new PrintStream(shown, true, StandardCharsets.UTF_8));

  @Test
  void theFirstOfEachKindIsShown() {
    log.report("42P01", "no table");
    log.report("42P01", "no other table");
    log.report(new IOException("reset"));
    log.report(new IOException("reset again"));
    assertEquals(
        "store: 42P01: no table (further ones are only counted)\n"
            + "store: IOException: reset (further ones are only counted)\n",
        shown.toString(StandardCharsets.UTF_8));
  }
}
