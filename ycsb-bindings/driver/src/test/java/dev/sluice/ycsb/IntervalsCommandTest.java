package dev.sluice.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramLogWriter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class IntervalsCommandTest {
  private final PrintStream console = System.out;
  private final StringWriter errors = new StringWriter();
  @TempDir private Path directory;

  @BeforeEach
  void writeRun() throws Exception {
    Files.writeString(
        directory.resolve("run.properties"),
        ResultsDirectory.START_MILLISECONDS + "=0\nstatus.interval=3\n");
    try (PrintStream out = new PrintStream(Files.newOutputStream(directory.resolve("READ.hdr")))) {
      Histogram histogram = new Histogram(3);
      histogram.recordValue(10);
      histogram.setEndTimeStamp(3000);
      new HistogramLogWriter(out).outputIntervalHistogram(histogram);
    }
  }

  @AfterEach
  void restore() {
    System.setOut(console);
  }

  private int execute(OutputStream out, int seconds) {
    System.setOut(new PrintStream(out, true));
    return Main.commandLine()
        .setErr(new PrintWriter(errors, true))
        .execute("intervals", directory.toString(), "--seconds", "" + seconds);
  }

  @Test
  void multiplesOfTheLoggedIntervalArePrinted() {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    assertEquals(0, execute(out, 6), errors.toString());
    assertTrue(out.toString().contains("READ,measured,1,"), out.toString());
  }

  @Test
  void otherLengthsAreRefused() {
    for (int seconds : new int[] {1, 10}) {
      assertEquals(1, execute(new ByteArrayOutputStream(), seconds));
      String message = "--seconds " + seconds + " is no multiple of status.interval=3";
      assertTrue(errors.toString().contains(message), errors.toString());
    }
  }

  @Test
  void outputThatCannotBeWrittenFails() {
    OutputStream full =
        new OutputStream() {
          @Override
          public void write(int value) throws IOException {
            throw new IOException("full");
          }
        };
    assertEquals(1, execute(full, 3));
    assertTrue(errors.toString().contains("could not be written"), errors.toString());
  }
}
