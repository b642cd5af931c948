import dev.sluice.hbase.commands.Main;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import picocli.CommandLine;

/**
 * Runs the commands of bin/hbase, one after the other, in a process that is there already. Each
 * line of standard input has the words of a command with tabs between them, and is answered by a
 * line: the exit code, what was printed, and what was said of errors, both in Base64.
 */
public final class HBaseCommands {
  private HBaseCommands() {}

  /** Runs commands until the end of standard input. */
  public static void main(String[] arguments) throws IOException {
    BufferedReader requests =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = requests.readLine(); line != null; line = requests.readLine()) {
      System.out.println(run(line.split("\t")));
      System.out.flush();
    }
  }

  private static String run(String... words) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int code =
        new CommandLine(new Main())
            .setOut(new PrintWriter(out, true))
            .setErr(new PrintWriter(err, true))
            .execute(words);
    return code + " " + encoded(out) + " " + encoded(err);
  }

  private static String encoded(StringWriter text) {
    return Base64.getEncoder().encodeToString(text.toString().getBytes(StandardCharsets.UTF_8));
  }
}
