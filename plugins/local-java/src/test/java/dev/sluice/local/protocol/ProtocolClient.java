package dev.sluice.local.protocol;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A client of the socket, as an agent is one. */
public final class ProtocolClient implements AutoCloseable {
  /**
   * Time to live of orders that a test ends itself: the most that a plug-in takes unless it is told
   * otherwise, since a machine may stand still for long.
   */
  public static final double LONG_SECONDS = 600;

  /** An answer that is an error. */
  public static final class RefusedException extends IOException {
    private static final long serialVersionUID = 1L;

    private final int code;

    RefusedException(Map<?, ?> error) {
      super(error.toString());
      code = ((Double) error.get("code")).intValue();
    }

    public int code() {
      return code;
    }
  }

  private final SocketChannel channel;
  private final LineReader lines;

  public ProtocolClient(Path socketPath) throws IOException {
    channel = SocketChannel.open(UnixDomainSocketAddress.of(socketPath));
    lines = new LineReader(channel, Requests.MAX_LINE_BYTES);
  }

  /** Calls a method; params are JSON with single quotes. */
  public Map<?, ?> call(String method, String params) throws IOException {
    String line =
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":%s}\n"
            .formatted(method, params.replace('\'', '"'));
    ByteBuffer bytes = ByteBuffer.wrap(line.getBytes(StandardCharsets.UTF_8));
    while (bytes.hasRemaining()) {
      channel.write(bytes);
    }
    Map<?, ?> answer = read(lines.next());
    if (answer.get("error") instanceof Map<?, ?> error) {
      throw new RefusedException(error);
    }
    return (Map<?, ?>) answer.get("result");
  }

  private static Map<?, ?> read(byte[] line) throws IOException {
    try {
      return (Map<?, ?>) Json.read(new String(line, StandardCharsets.UTF_8));
    } catch (JsonException e) {
      throw new IOException(e);
    }
  }

  /** Gives a lease until it is cleared; setting is a name, or a name and a number. */
  public void set(String kind, String scope, String setting) throws IOException {
    set(kind, scope, setting, LONG_SECONDS);
  }

  public void set(String kind, String scope, String setting, double seconds) throws IOException {
    call("set", order(kind, scope, seconds) + ",'setting':" + json(setting) + "}");
  }

  /** Whether the store is at none of its limits, where it refuses orders. */
  public boolean takesOrders(String kind) throws IOException {
    String order = "{'kind':'%s','setting':{'name':'stock'},'owner':'trial'".formatted(kind);
    try {
      call("set", order + ",'time_to_live_seconds':1}");
    } catch (RefusedException refused) {
      return false;
    }
    call("clear", "{'owner':'trial'}");
    return true;
  }

  public void start(String kind, String scope) throws IOException {
    call("start", order(kind, scope, LONG_SECONDS) + "}");
  }

  public void start(String kind, String scope, String variant) throws IOException {
    call("start", order(kind, scope, LONG_SECONDS) + ",'variant':'" + variant + "'}");
  }

  public void abort(String kind, String task) throws IOException {
    call("abort", "{'kind':'%s','task':'%s','owner':'test'}".formatted(kind, task));
  }

  private static String order(String kind, String scope, double seconds) {
    return "{'kind':'%s','scope':'%s','owner':'test','time_to_live_seconds':%s"
        .formatted(kind, scope, seconds);
  }

  private static String json(String setting) {
    String[] parts = setting.split("=", 2);
    String number = parts.length == 1 ? "" : ",'number':" + parts[1];
    return "{'name':'" + parts[0] + "'" + number + "}";
  }

  public void clear() throws IOException {
    call("clear", "{'owner':'test'}");
  }

  public Map<?, ?> snapshot() throws IOException {
    return call("snapshot", "{}");
  }

  /** The leases in force. */
  public List<?> leases() throws IOException {
    return (List<?>) snapshot().get("leases");
  }

  /** Tasks of a kind on a table that are in a state. */
  public List<Map<?, ?>> tasks(String kind, String table, String state) throws IOException {
    return ((List<?>) snapshot().get("tasks"))
        .stream()
            .<Map<?, ?>>map(task -> (Map<?, ?>) task)
            .filter(task -> kind.equals(task.get("kind")) && state.equals(task.get("state")))
            .filter(task -> ((String) task.get("scope")).startsWith(table + "/"))
            .toList();
  }

  public double figure(String name) throws IOException {
    return (Double) ((Map<?, ?>) snapshot().get("figures")).get(name);
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
