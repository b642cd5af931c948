package dev.sluice.ycsb;

import dev.sluice.client.LatencyReporter;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import site.ycsb.Client;

/** Reads the property files of a workload and checks what every phase needs. */
final class WorkloadProperties {
  /** Phases of a target rate that repeat; see {@link TargetSchedule#parse}. */
  static final String TARGET_SCHEDULE = "sluice.target.schedule";

  /** Seconds between two entries of the histogram logs; the name is YCSB's. */
  static final String INTERVAL_SECONDS = "status.interval";

  /** The socket of an agent that takes response times; empty or absent for none. */
  static final String CLIENTS_SOCKET = "sluice.clients.socket";

  private WorkloadProperties() {}

  /**
   * Later files override earlier ones, and single properties override all files.
   *
   * @param files as given; a name that is no file here is looked for in the bundle's workloads
   * @throws SettingException when a file is not there or cannot be read
   */
  static Properties read(List<String> files, Map<String, String> overrides) {
    Properties properties = new Properties();
    for (String file : files) {
      try (Reader reader = Files.newBufferedReader(locate(file))) {
        properties.load(reader);
      } catch (IOException e) {
        throw new SettingException("cannot read " + file + ": " + e.getMessage());
      }
    }
    overrides.forEach(properties::setProperty);
    return properties;
  }

  /** Refuses sizes, rates and counts that YCSB would take for something else. */
  static void check(Phase phase, Properties properties) {
    whole(properties, Client.RECORD_COUNT_PROPERTY, 1);
    whole(properties, Client.THREAD_COUNT_PROPERTY, 1);
    whole(properties, Client.MAX_EXECUTION_TIME, 0);
    whole(properties, Client.TARGET_PROPERTY, 0);
    whole(properties, INTERVAL_SECONDS, 1);
    if (properties.containsKey(Client.INSERT_COUNT_PROPERTY)) {
      // 0 would be a load without an end.
      whole(properties, Client.INSERT_COUNT_PROPERTY, 1);
    }
    if (phase == Phase.LOAD) {
      return;
    }
    long operations = whole(properties, Client.OPERATION_COUNT_PROPERTY, 0);
    long seconds = whole(properties, Client.MAX_EXECUTION_TIME, 0);
    if (operations == 0 && seconds == 0) {
      throw new SettingException(
          "the run would never end; set operationcount or maxexecutiontime (seconds) above 0");
    }
    if (target(properties) > 0 && properties.containsKey(TARGET_SCHEDULE)) {
      throw new SettingException("set either target or " + TARGET_SCHEDULE + ", not both");
    }
  }

  /** The schedule that the properties ask for; null for as fast as the store answers. */
  static TargetSchedule schedule(Properties properties) {
    String text = properties.getProperty(TARGET_SCHEDULE);
    if (text != null) {
      return TargetSchedule.parse(text);
    }
    long target = target(properties);
    return target > 0 ? TargetSchedule.constant(target) : null;
  }

  /** What reports the response times of a store, if the properties ask for it; else null. */
  static LatencyReporter reporter(Properties properties, String store) {
    String socket = properties.getProperty(CLIENTS_SOCKET, "").trim();
    return socket.isEmpty() ? null : LatencyReporter.start(Path.of(socket), store);
  }

  private static long target(Properties properties) {
    return Long.parseLong(properties.getProperty(Client.TARGET_PROPERTY, "0"));
  }

  private static long whole(Properties properties, String name, long least) {
    String text = properties.getProperty(name);
    if (text == null) {
      throw new SettingException(
          name
              + " is not set; add a profile such as -P profiles/smoke.properties, or -p "
              + name
              + "=NUMBER");
    }
    try {
      // YCSB itself reads these as int.
      int value = Integer.parseInt(text.trim());
      if (value >= least) {
        properties.setProperty(name, Integer.toString(value));
        return value;
      }
    } catch (NumberFormatException e) {
      // Reported below, as a number out of range is.
    }
    throw new SettingException(
        name + "=" + text + " is not a whole number from " + least + " to " + Integer.MAX_VALUE);
  }

  private static Path locate(String file) {
    Path here = Path.of(file);
    if (Files.isRegularFile(here)) {
      return here;
    }
    Path workloads = Path.of(System.getProperty("sluice.ycsb.home", "."), "workloads");
    Path bundled = workloads.resolve(file);
    if (Files.isRegularFile(bundled)) {
      return bundled;
    }
    throw new SettingException("no file " + file + "; the bundle has " + names(workloads));
  }

  private static String names(Path workloads) {
    try (Stream<Path> files = Files.walk(workloads)) {
      return files
          .filter(Files::isRegularFile)
          .map(file -> workloads.relativize(file).toString())
          .sorted()
          .collect(Collectors.joining(", "));
    } catch (IOException e) {
      return "no workloads in " + workloads;
    }
  }
}
