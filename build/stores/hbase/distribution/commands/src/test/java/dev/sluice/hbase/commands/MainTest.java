package dev.sluice.hbase.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class MainTest {

  static Stream<List<String>> commands() {
    List<List<String>> all = new ArrayList<>();
    collect(Main.commandLine(), List.of(), all);
    return all.stream();
  }

  private static void collect(CommandLine command, List<String> path, List<List<String>> all) {
    all.add(path);
    command
        .getSubcommands()
        .forEach(
            (name, each) -> {
              List<String> longer = new ArrayList<>(path);
              longer.add(name);
              collect(each, longer, all);
            });
  }

  @ParameterizedTest
  @MethodSource("commands")
  void helpOfEachCommandSaysWhatItDoes(List<String> path) {
    List<String> arguments = new ArrayList<>(path);
    arguments.add("--help");
    Invocation help = Invocation.of(arguments.toArray(String[]::new));
    assertEquals(0, help.exitCode(), help.err());
    String first = help.out().lines().findFirst().orElse("");
    assertFalse(first.isBlank(), help.out());
    assertTrue(help.out().contains("Usage: hbase " + String.join(" ", path)), help.out());
    assertTrue(help.out().contains("--output"), help.out());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "no-such-command",
        "get",
        "get t",
        "put t r cf:q",
        "put t r cf:q v --stdin",
        "create t",
        "create t -f cf --regions 2 --first a --last b",
        "create t -f cf --regions 5",
        "create t -f cf --splits a --regions 5 --first a --last b",
        "alter t",
        "scan t --prefix a --start b",
        "scan t --limit -1",
        "balancer maybe",
        "snapshot",
        "merge one",
        "-o yaml status",
        "tables ["
      })
  void aWrongCommandLineEndsWithTwoAndSaysWhy(String line) {
    Invocation wrong = Invocation.of(line.isEmpty() ? new String[0] : line.split(" "));
    assertEquals(2, wrong.exitCode(), wrong.err());
    assertFalse(wrong.err().isBlank());
    assertEquals("", wrong.out());
  }

  @Test
  void withoutConfigurationItSaysWhereToPutOne() {
    Invocation failed = Invocation.of("status");
    assertEquals(1, failed.exitCode());
    assertTrue(failed.err().startsWith("hbase: there is no hbase-site.xml"), failed.err());
    assertTrue(failed.err().contains("what to do: "), failed.err());
  }
}
