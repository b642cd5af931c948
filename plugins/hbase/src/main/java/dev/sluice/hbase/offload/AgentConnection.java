package dev.sluice.hbase.offload;

import dev.sluice.local.protocol.Json;
import dev.sluice.local.protocol.LineReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

/**
 * The agent of this node, asked for one job: docs/remote-compaction.md has the messages. Closing
 * the connection cancels the job.
 */
final class AgentConnection implements Closeable {
  /** The agent answers a second after it was asked, and places a job within 2 s. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private static final int MAX_LINE_BYTES = 3 << 20;
  private static final Map<String, Object> PROTOCOL_VERSION = Map.of("major", 1, "minor", 0);

  private final DeadlineChannel channel;
  private final LineReader lines;

  AgentConnection(Path socket) throws StaysLocalException {
    try {
      channel = new DeadlineChannel(socket, PATIENCE);
    } catch (IOException e) {
      throw new StaysLocalException(Reasons.NO_AGENT, socket + ": " + e.getMessage());
    }
    lines = new LineReader(channel, MAX_LINE_BYTES);
  }

  /** Has a job placed, and returns the node that has it. */
  String run(Map<String, Object> job) throws StaysLocalException, InterruptedIOException {
    Members placed = call("run", Map.of("protocol_version", PROTOCOL_VERSION, "job", job));
    if ("remote".equals(placed.text("placement"))) {
      return placed.text("node");
    }
    throw local(placed);
  }

  /** Waits for at most a second or so, and returns the result, or null if there is none yet. */
  byte[] await() throws StaysLocalException, InterruptedIOException {
    Members state = call("wait", Map.of());
    return switch (state.text("state")) {
      case "running" -> null;
      case "done" -> state.bytes("result");
      default -> throw local(state);
    };
  }

  private static StaysLocalException local(Members answer) throws StaysLocalException {
    return new StaysLocalException(Reasons.checked(answer.text("reason")), answer.text("detail"));
  }

  private Members call(String method, Map<String, Object> params)
      throws StaysLocalException, InterruptedIOException {
    String line =
        Json.write(Map.of("jsonrpc", "2.0", "id", 1, "method", method, "params", params)) + "\n";
    if (line.length() > MAX_LINE_BYTES) {
      throw new StaysLocalException(Reasons.FAILED, "the job has " + line.length() + " bytes");
    }
    Members answer = Members.read(exchange(line));
    if (answer.has("error")) {
      throw new StaysLocalException(Reasons.AGENT_REFUSED, answer.object("error").text("message"));
    }
    return answer.object("result");
  }

  private byte[] exchange(String line) throws StaysLocalException, InterruptedIOException {
    try {
      channel.writeAll(ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8)));
      byte[] answer = lines.next();
      if (answer != null) {
        return answer;
      }
      throw new StaysLocalException(Reasons.AGENT_SILENT, "the agent has closed the connection");
    } catch (SocketTimeoutException e) {
      throw new StaysLocalException(Reasons.AGENT_SILENT, e.getMessage());
    } catch (InterruptedIOException e) {
      throw e;
    } catch (IOException e) {
      throw new StaysLocalException(Reasons.AGENT_SILENT, "the agent is lost: " + e.getMessage());
    }
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      // The agent learns of the end of this process, at the latest.
      return;
    }
  }
}
