package dev.sluice.ycsb;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A socket that takes the reports of one client as an agent does, and keeps them. */
public final class TakesReports implements AutoCloseable {
  private static final String TAKEN =
      "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocol_version\":{\"major\":1,\"minor\":0}}}\n";

  private static final Pattern ENTRY =
      Pattern.compile(
          "\"class\":\"(\\w+)\",\"scope\":\"([^\"]*)\",\"errors\":(\\d+),[^\\[]*\"buckets\":\\[([^}]*)]}");
  private static final Pattern BUCKET = Pattern.compile("\\[\\d+,(\\d+)]");

  private final Path socket;
  private final ServerSocketChannel server;
  private final Queue<String> reports = new ConcurrentLinkedQueue<>();
  private final Thread thread = new Thread(this::serve, "reports");

  /** Listens; a client that comes later is served all the same. */
  public TakesReports(Path socket) throws IOException {
    this.socket = socket;
    server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    server.bind(UnixDomainSocketAddress.of(socket));
    thread.setDaemon(true);
    thread.start();
  }

  public Path socket() {
    return socket;
  }

  private void serve() {
    try (SocketChannel client = server.accept();
        BufferedReader lines =
            new BufferedReader(Channels.newReader(client, StandardCharsets.UTF_8))) {
      String line;
      while ((line = lines.readLine()) != null) {
        reports.add(line);
        client.write(ByteBuffer.wrap(TAKEN.getBytes(StandardCharsets.UTF_8)));
      }
    } catch (IOException e) {
      reports.add(e.toString());
    }
  }

  /** All reports of the client, once it has gone. */
  public String told() throws InterruptedException {
    thread.join();
    return String.join("\n", reports);
  }

  /** How many requests reports tell of, and how many that failed, by class and scope. */
  public static Map<String, String> requests(String told) {
    Map<String, long[]> counts = new TreeMap<>();
    Matcher entries = ENTRY.matcher(told);
    while (entries.find()) {
      long[] sums =
          counts.computeIfAbsent(entries.group(1) + " " + entries.group(2), key -> new long[2]);
      Matcher buckets = BUCKET.matcher(entries.group(4));
      while (buckets.find()) {
        sums[0] += Long.parseLong(buckets.group(1));
      }
      sums[1] += Long.parseLong(entries.group(3));
    }
    Map<String, String> requests = new TreeMap<>();
    counts.forEach((key, sums) -> requests.put(key, sums[0] + " " + sums[1]));
    return requests;
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
