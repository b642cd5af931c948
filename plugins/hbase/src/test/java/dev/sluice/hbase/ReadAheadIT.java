package dev.sluice.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.hbase.compaction.CountingCompactor;
import dev.sluice.local.protocol.ProtocolClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What stands in the sockets of the DataNode while a compaction is held. */
@ExtendWith(PluginCluster.Shared.class)
class ReadAheadIT {
  private static final String KIND = "compaction";
  private static final int FILE_BYTES = 4 << 20;
  private static final long STREAM_BYTES = 256 << 10;

  private final PluginCluster cluster;
  private ProtocolClient client;

  ReadAheadIT(PluginCluster cluster) {
    this.cluster = cluster;
  }

  @BeforeEach
  void connect() throws Exception {
    client = cluster.client();
  }

  @AfterEach
  void clear() throws Exception {
    client.clear();
    client.close();
  }

  @Test
  void nothingIsReadAheadOfACompactionThatIsHeld() throws Exception {
    TableName table = hold(table("chunks"));
    // What is read ahead stays there; an acknowledgement of the server's log passes.
    cluster.await(() -> bytesInSockets() == 0);
    finish(table);
  }

  @Test
  void aStreamIsFilledThoughNobodyReadsIt() throws Exception {
    TableName table = hold(table("stream").setValue(CountingCompactor.READ_BYTES_KEY, "0"));
    cluster.await(() -> bytesInSockets() > STREAM_BYTES);
    finish(table);
  }

  private static TableDescriptorBuilder table(String name) {
    return TableDescriptorBuilder.newBuilder(TableName.valueOf(name))
        .setColumnFamily(ColumnFamilyDescriptorBuilder.of(PluginCluster.FAMILY));
  }

  private TableName hold(TableDescriptorBuilder builder) throws Exception {
    TableDescriptor descriptor = builder.build();
    cluster.admin().createTable(descriptor);
    TableName table = descriptor.getTableName();
    String name = table.getNameAsString();
    int rows = FILE_BYTES / PluginCluster.VALUE_BYTES;
    cluster.addFile(table, 0, rows);
    cluster.addFile(table, rows, rows);
    client.set(KIND, name, "hold");
    client.start(KIND, name);
    cluster.await(() -> !client.tasks(KIND, name, "held").isEmpty());
    return table;
  }

  private void finish(TableName table) throws Exception {
    long before = cluster.contentHash(table);
    client.clear();
    cluster.await(() -> cluster.fileCount(table) == 1);
    assertEquals(before, cluster.contentHash(table));
    assertTrue(client.tasks(KIND, table.getNameAsString(), "held").isEmpty());
  }

  /** What the DataNode has sent or is about to send, and nobody has read. */
  private long bytesInSockets() throws IOException {
    int port = cluster.utility().getDFSCluster().getDataNodes().get(0).getXferPort();
    String suffix = String.format(":%04X", port);
    long bytes = 0;
    for (String table : List.of("tcp", "tcp6")) {
      for (String line : Files.readAllLines(Path.of("/proc/self/net", table))) {
        // Number, local address, remote address, state, queues of what is sent and received.
        String[] fields = line.trim().split("\\s+");
        String[] queues = fields[4].split(":");
        if (fields[1].endsWith(suffix)) {
          bytes += Long.parseLong(queues[0], 16);
        } else if (fields[2].endsWith(suffix)) {
          bytes += Long.parseLong(queues[1], 16);
        }
      }
    }
    return bytes;
  }
}
