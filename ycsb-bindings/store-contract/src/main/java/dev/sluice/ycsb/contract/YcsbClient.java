package dev.sluice.ycsb.contract;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Runs YCSB's own client in a process of its own, because it ends with System.exit. */
final class YcsbClient {
  private static final Pattern RETURN = Pattern.compile("\\[(.+)\\], Return=(\\w+), (\\d+)");

  /**
   * What a run printed.
   *
   * @param exitCode of the process; YCSB gives 0 for some failures too
   * @param text all its output
   */
  record Output(int exitCode, String text) {

    /** Number of operations by metric, such as READ or VERIFY, and status. */
    Map<String, Map<String, Long>> statuses() {
      Map<String, Map<String, Long>> statuses = new HashMap<>();
      Matcher matcher = RETURN.matcher(text);
      while (matcher.find()) {
        statuses
            .computeIfAbsent(matcher.group(1), metric -> new HashMap<>())
            .put(matcher.group(2), Long.parseLong(matcher.group(3)));
      }
      return statuses;
    }
  }

  private YcsbClient() {}

  static Output run(Class<?> db, Path workload, Properties properties, String... options)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // It ends before better code than that of the first compiler would have been worth making.
    command.add("-XX:TieredStopAtLevel=1");
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), "site.ycsb.Client"));
    command.addAll(List.of("-db", db.getName(), "-P", workload.toString()));
    command.addAll(List.of(options));
    for (String name : properties.stringPropertyNames()) {
      command.addAll(List.of("-p", name + "=" + properties.getProperty(name)));
    }
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String text = new String(process.getInputStream().readAllBytes());
    return new Output(process.waitFor(), text);
  }
}
