package dev.sluice.cassandra.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** What is said where there is no node; tests/cassandra has what nodes answer. */
class MainTest {
  private final StringWriter err = new StringWriter();

  @Test
  void withoutANodeItSaysWhichDoesNotAnswer() {
    assertEquals(CommandLine.ExitCode.SOFTWARE, execute("cql --address localhost:1 SELECT"));
    assertTrue(err.toString().contains("no node answers at localhost:1"), err::toString);
    assertTrue(err.toString().contains("what to do: "), err::toString);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ":9042", "localhost:x", "localhost:70000", "no such host:9042"})
  void anAddressThatIsNoneIsRefused(String address) {
    assertThrows(CommandFailure.class, () -> CqlCommand.address(address));
  }

  @Test
  void thePortMayBeLeftOut() {
    assertEquals(9042, CqlCommand.address("localhost").getPort());
    assertEquals(19042, CqlCommand.address("localhost:19042").getPort());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "drop", "cql --consistency MANY SELECT", "cql --timeout x SELECT"})
  void aWrongCommandLineEndsWithUsage(String command) {
    assertEquals(CommandLine.ExitCode.USAGE, execute(command));
  }

  private int execute(String command) {
    CommandLine main = Main.commandLine().setErr(new PrintWriter(err, true));
    return main.execute(command.isEmpty() ? new String[0] : command.split(" "));
  }
}
