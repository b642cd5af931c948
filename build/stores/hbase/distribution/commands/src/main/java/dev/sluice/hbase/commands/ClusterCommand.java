package dev.sluice.hbase.commands;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hbase.thirdparty.com.google.gson.Gson;
import org.apache.hbase.thirdparty.com.google.gson.GsonBuilder;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** A command that talks to the cluster and prints one answer. */
abstract class ClusterCommand implements Callable<Integer> {
  private static final Gson GSON = new GsonBuilder().disableHtmlEscaping().create();

  @Spec private CommandSpec spec;

  /** Does it; a null answer prints nothing. */
  abstract Answer ask(Connection connection) throws IOException;

  @Override
  public final Integer call() throws IOException {
    check();
    Answer answer;
    try (Connection connection = main().connect()) {
      answer = ask(connection);
    }
    if (answer != null) {
      print(answer);
    }
    return CommandLine.ExitCode.OK;
  }

  /** Refuses a wrong command line before anything is connected. */
  void check() {}

  final CommandLine.ParameterException wrong(String message) {
    return new CommandLine.ParameterException(spec.commandLine(), message);
  }

  final Main main() {
    return (Main) spec.root().userObject();
  }

  final PrintWriter out() {
    return spec.commandLine().getOut();
  }

  final boolean isJson() {
    return main().output() == Main.Output.json;
  }

  static TableName table(String name) {
    try {
      return TableName.valueOf(name);
    } catch (IllegalArgumentException e) {
      throw new CommandFailure(
          "'" + name + "' is no table's name: " + e.getMessage(), "correct it");
    }
  }

  private void print(Answer answer) {
    PrintWriter out = out();
    if (isJson()) {
      out.println(GSON.toJson(answer.json()));
    } else if (!answer.text().isEmpty()) {
      out.println(answer.text());
    }
    out.flush();
  }
}
