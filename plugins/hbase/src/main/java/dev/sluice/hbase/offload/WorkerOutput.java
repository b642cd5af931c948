package dev.sluice.hbase.offload;

import dev.sluice.local.protocol.Json;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;

/** What a worker says to its agent: lines of proto/local/compaction/worker-line.schema.json. */
final class WorkerOutput {
  private static final int MAX_MESSAGE_CHARACTERS = 4096;

  private final PrintStream stream;
  private boolean isEnded;

  WorkerOutput(PrintStream stream) {
    this.stream = stream;
  }

  void started(HBaseVersion version) {
    say(
        "started",
        Map.of(
            "protocol_version", Map.of("major", 1, "minor", 0), "hbase_version", version.toJson()));
  }

  void progress(TransferredBytes bytes) {
    say("progress", Map.of("bytes_read", bytes.read(), "bytes_written", bytes.written()));
  }

  /** Says the last line of a worker that has done its job. */
  synchronized void result(
      OffloadOutcome outcome, TransferredBytes bytes, double openSeconds, double cpuSeconds) {
    say(
        "result",
        Map.of(
            "result",
            Base64.getEncoder().encodeToString(outcome.encode()),
            "bytes_read",
            bytes.read(),
            "bytes_written",
            bytes.written(),
            "open_seconds",
            openSeconds,
            "cpu_seconds",
            cpuSeconds));
    isEnded = true;
  }

  /** Says the last line of one that has not. */
  synchronized void failure(String reason, String message) {
    String shown = message.isEmpty() ? reason : message;
    say(
        "failure",
        Map.of(
            "reason",
            reason,
            "message",
            shown.substring(0, Math.min(shown.length(), MAX_MESSAGE_CHARACTERS))));
    isEnded = true;
  }

  private synchronized void say(String member, Map<String, Object> content) {
    if (isEnded) {
      return;
    }
    byte[] line = (Json.write(Map.of(member, content)) + "\n").getBytes(StandardCharsets.UTF_8);
    stream.write(line, 0, line.length);
    stream.flush();
  }
}
