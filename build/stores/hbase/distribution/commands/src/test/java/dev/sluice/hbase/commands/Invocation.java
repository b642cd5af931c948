package dev.sluice.hbase.commands;

import java.io.PrintWriter;
import java.io.StringWriter;
import picocli.CommandLine;

/** What one command line gave. */
record Invocation(int exitCode, String out, String err) {

  /** Runs it in this process. */
  static Invocation of(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine commandLine =
        Main.commandLine().setOut(new PrintWriter(out, true)).setErr(new PrintWriter(err, true));
    int exitCode = commandLine.execute(arguments);
    return new Invocation(exitCode, out.toString(), err.toString());
  }
}
