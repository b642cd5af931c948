package dev.sluice.ignite.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** What is said where there is no node; tests/ignite has what nodes answer. */
class MainTest {
  private final StringWriter err = new StringWriter();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "status --rest localhost:1",
        "init --rest localhost:1 --cluster c --metastorage-node n",
        "sql --address localhost:1 SELECT",
      })
  void withoutANodeItSaysWhichDoesNotAnswer(String command) {
    assertEquals(CommandLine.ExitCode.SOFTWARE, execute(command));
    assertTrue(err.toString().contains("no node answers at localhost:1"), err::toString);
    assertTrue(err.toString().contains("what to do: "), err::toString);
  }

  @Test
  void anAddressThatIsNoneIsRefused() {
    assertEquals(CommandLine.ExitCode.SOFTWARE, execute("status --rest a|b"));
    assertTrue(err.toString().contains("a|b is no address"), err::toString);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "sql", "init --cluster c", "init --metastorage-node n", "drop"})
  void aWrongCommandLineEndsWithUsage(String command) {
    assertEquals(CommandLine.ExitCode.USAGE, execute(command));
  }

  private int execute(String command) {
    CommandLine main = Main.commandLine().setErr(new PrintWriter(err, true));
    return main.execute(command.isEmpty() ? new String[0] : command.split(" "));
  }
}
