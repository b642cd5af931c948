package dev.sluice.tap;

import static org.junit.Assert.assertEquals;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.Test;
import org.junit.runner.Description;
import org.junit.runner.notification.Failure;

/** Results that can be read among what servers log to the same place. */
public class TapRunnerTest {
  private static final Description TEST = Description.createTestDescription("Tests", "one");

  private final List<String> pieces = new ArrayList<>();
  private final TapRunner runner = new TapRunner(new PrintStream(new Pieces()));

  @Test
  public void aResultIsALineInOnePiece() {
    runner.testFinished(TEST);
    runner.testIgnored(TEST);
    assertEquals(List.of("\nok 1 - one\n", "\nok 2 - one # skip\n"), pieces);
  }

  @Test
  public void aFailureIsNotOk() {
    runner.testFailure(new Failure(TEST, new AssertionError("as the test wants it")));
    runner.testFinished(TEST);
    assertEquals(2, pieces.size());
    assertEquals("\nnot ok 1 - one\n", pieces.get(1));
  }

  private final class Pieces extends OutputStream {
    @Override
    public void write(int single) {
      pieces.add(String.valueOf((char) single));
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
      pieces.add(new String(bytes, offset, length, StandardCharsets.UTF_8));
    }
  }
}
