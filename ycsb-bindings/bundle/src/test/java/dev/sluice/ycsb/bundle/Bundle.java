package dev.sluice.ycsb.bundle;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The archive as users get it, unpacked, with its launcher. */
final class Bundle {
  /** The archive that the build made. */
  static final Path ARCHIVE = Path.of(System.getProperty("sluice.bundle"));

  private final Path home;
  private final Path scratch;

  /** What a process left. */
  record Result(int exitCode, String out, String err) {}

  private Bundle(Path home, Path scratch) {
    this.home = home;
    this.scratch = scratch;
  }

  static Bundle unpack(Path directory) throws IOException {
    Path target = Files.createDirectory(directory.resolve("bundle"));
    Bundle bundle = new Bundle(target, directory);
    Result tar = bundle.execute("tar", "-xzf", ARCHIVE.toString(), "-C", target.toString());
    if (tar.exitCode() != 0) {
      throw new IOException(tar.err());
    }
    try (Stream<Path> top = Files.list(target)) {
      return new Bundle(top.findFirst().orElseThrow(), directory);
    }
  }

  /** Runs {@code sluice-ycsb} with these arguments. */
  Result ycsb(String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(home.resolve("bin/sluice-ycsb").toString());
    command.addAll(List.of(arguments));
    return execute(command.toArray(String[]::new));
  }

  /** The jars of all bindings, which are on one class path. */
  List<Path> jars() throws IOException {
    try (Stream<Path> files = Files.list(home.resolve("lib"))) {
      return files.sorted().toList();
    }
  }

  /** Runs any program in an empty place. */
  Result execute(String... command) throws IOException {
    Path out = Files.createTempFile(scratch, "out", null);
    Path err = Files.createTempFile(scratch, "err", null);
    Process process =
        new ProcessBuilder(command)
            .directory(scratch.toFile())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    int code = process.onExit().join().exitValue();
    return new Result(code, Files.readString(out), Files.readString(err));
  }
}
