package dev.sluice.hdfs;

import dev.sluice.local.plugin.PluginSocket;
import dev.sluice.local.protocol.ProtocolClient;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.DFSConfigKeys;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.VolumeChoosingPolicy;
import org.apache.hadoop.hdfs.tools.DFSck;
import org.apache.hadoop.util.ToolRunner;

/** A NameNode and DataNodes with the plug-in, each with volumes of the types given. */
final class DataNodes implements AutoCloseable {
  static final int BLOCK_BYTES = 1 << 20;

  private final Path sockets;
  private final MiniDFSCluster cluster;

  /** Starts them with settings beside those that the plug-in takes. */
  DataNodes(Path folder, Map<String, String> settings, int count, StorageType... types)
      throws IOException {
    sockets = folder.resolve("s");
    Configuration conf = new HdfsConfiguration();
    conf.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, folder.resolve("cluster").toString());
    conf.setLong(DFSConfigKeys.DFS_BLOCK_SIZE_KEY, BLOCK_BYTES);
    conf.setLong(DFSConfigKeys.DFS_HEARTBEAT_INTERVAL_KEY, 1);
    conf.setLong(DFSConfigKeys.DFS_NAMENODE_REDUNDANCY_INTERVAL_SECONDS_KEY, 1);
    conf.set(DFSConfigKeys.DFS_DATANODE_PLUGINS_KEY, DataNodePlugin.class.getName());
    conf.setClass(
        DFSConfigKeys.DFS_DATANODE_FSDATASET_VOLUME_CHOOSING_POLICY_KEY,
        RedirectingVolumeChoosingPolicy.class,
        VolumeChoosingPolicy.class);
    conf.set(PluginSocket.DIRECTORY_KEY, sockets.toString());
    settings.forEach(conf::set);
    Configuration[] own = new Configuration[count];
    for (int i = 0; i < count; i++) {
      own[i] = new Configuration(false);
      own[i].set(DataNodePlugin.INSTANCE_KEY, "datanode" + i);
    }
    cluster =
        new MiniDFSCluster.Builder(conf)
            .numDataNodes(count)
            .dataNodeConfOverlays(own)
            .storagesPerDatanode(types.length)
            .storageTypes(types)
            .build();
    cluster.waitActive();
  }

  MiniDFSCluster cluster() {
    return cluster;
  }

  DistributedFileSystem files() throws IOException {
    return cluster.getFileSystem();
  }

  Path socketPath(int index) {
    return sockets.resolve("hdfs").resolve("datanode" + index + ".sock");
  }

  /** Orders a tier of every DataNode, for as long as a test may take. */
  void orderTier(String tier) throws IOException {
    orderTier(tier, ProtocolClient.LONG_SECONDS);
  }

  /** Orders a tier of every DataNode. */
  void orderTier(String tier, double seconds) throws IOException {
    for (int i = 0; i < cluster.getDataNodes().size(); i++) {
      try (ProtocolClient client = new ProtocolClient(socketPath(i))) {
        client.call(
            "set",
            "{'kind':'log-placement','scope':'','setting':{'name':'tier','text':'%s'},'owner':'test','time_to_live_seconds':%s}"
                .formatted(tier, seconds));
      }
    }
  }

  /** What the snapshot of a DataNode has among its figures. */
  Map<?, ?> figures(int index) throws IOException {
    try (ProtocolClient client = new ProtocolClient(socketPath(index))) {
      return (Map<?, ?>) client.call("snapshot", "{}").get("figures");
    }
  }

  /** Begins a file that is to be on the fast tier. */
  FSDataOutputStream create(String name, int replication) throws IOException {
    org.apache.hadoop.fs.Path file = new org.apache.hadoop.fs.Path(name);
    FSDataOutputStream output = files().create(file, (short) replication);
    files().setStoragePolicy(file, HdfsConstants.ALLSSD_STORAGE_POLICY_NAME);
    return output;
  }

  /** Where the copies of each block of a file are, as the NameNode says. */
  List<StorageType> storageTypes(String name) throws IOException {
    List<StorageType> types = new ArrayList<>();
    org.apache.hadoop.fs.Path file = new org.apache.hadoop.fs.Path(name);
    for (BlockLocation block : files().getFileBlockLocations(file, 0, Long.MAX_VALUE)) {
      types.addAll(Arrays.asList(block.getStorageTypes()));
    }
    return types;
  }

  /** Where a block lands that is written now. */
  StorageType placeOne(String name) throws IOException {
    try (FSDataOutputStream output = create(name, 1)) {
      output.write(1);
    }
    return storageTypes(name).get(0);
  }

  /** What fsck says of everything. */
  String fsck() throws Exception {
    ByteArrayOutputStream output = new ByteArrayOutputStream();
    DFSck check = new DFSck(cluster.getConfiguration(0), new PrintStream(output, true));
    ToolRunner.run(check, new String[] {"/", "-files", "-blocks"});
    return output.toString(StandardCharsets.UTF_8);
  }

  @Override
  public void close() {
    cluster.shutdown();
  }
}
