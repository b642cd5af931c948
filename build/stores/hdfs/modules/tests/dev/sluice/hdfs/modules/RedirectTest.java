package dev.sluice.hdfs.modules;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.BlockLocation;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.DFSConfigKeys;
import org.apache.hadoop.hdfs.DFSTestUtil;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.protocol.HdfsConstants;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.AvailableSpaceVolumeChoosingPolicy;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.RoundRobinVolumeChoosingPolicy;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.VolumeChoosingPolicy;
import org.apache.hadoop.hdfs.server.mover.Mover;
import org.apache.hadoop.util.ToolRunner;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;

/** Which replicas a policy may redirect, on DataNodes with an SSD and a disk each. */
public class RedirectTest {
  private static final int BLOCK_BYTES = 1 << 20;
  private static final Path FILE = new Path("/log");

  private MiniDFSCluster cluster;
  private DistributedFileSystem files;

  @Before
  public void startCluster() throws IOException {
    SwitchedPolicy.redirects = false;
    Configuration settings = new HdfsConfiguration();
    settings.setLong(DFSConfigKeys.DFS_BLOCK_SIZE_KEY, BLOCK_BYTES);
    settings.setLong(DFSConfigKeys.DFS_HEARTBEAT_INTERVAL_KEY, 1);
    settings.setLong(DFSConfigKeys.DFS_NAMENODE_REDUNDANCY_INTERVAL_SECONDS_KEY, 1);
    settings.setClass(
        DFSConfigKeys.DFS_DATANODE_FSDATASET_VOLUME_CHOOSING_POLICY_KEY,
        SwitchedPolicy.class,
        VolumeChoosingPolicy.class);
    cluster =
        new MiniDFSCluster.Builder(settings)
            .numDataNodes(2)
            .storageTypes(new StorageType[] {StorageType.SSD, StorageType.DISK})
            .build();
    cluster.waitActive();
    files = cluster.getFileSystem();
  }

  @After
  public void stopCluster() {
    SwitchedPolicy.redirects = false;
    cluster.shutdown();
  }

  @Test
  public void upstreamsPoliciesRedirectNothing() {
    VolumeChoosingPolicy<FsVolumeSpi> roundRobin = new RoundRobinVolumeChoosingPolicy<>();
    VolumeChoosingPolicy<FsVolumeSpi> availableSpace = new AvailableSpaceVolumeChoosingPolicy<>();
    for (StorageType type : StorageType.values()) {
      assertEquals(type, roundRobin.redirect(Collections.emptyList(), type, BLOCK_BYTES));
      assertEquals(type, availableSpace.redirect(Collections.emptyList(), type, BLOCK_BYTES));
    }
  }

  @Test
  public void eachBlockOfAnOpenFileGoesWhereThePolicySays() throws IOException {
    byte[] content = DFSTestUtil.generateSequentialBytes(0, 3 * BLOCK_BYTES);
    try (FSDataOutputStream output = onSsd((short) 1)) {
      for (int block = 0; block < 3; block++) {
        SwitchedPolicy.redirects = block == 1;
        output.write(content, block * BLOCK_BYTES, BLOCK_BYTES);
        output.hsync();
      }
    }
    assertEquals(List.of(StorageType.SSD, StorageType.DISK, StorageType.SSD), storageTypes());
    assertArrayEquals(content, DFSTestUtil.readFileAsBytes(files, FILE));
  }

  @Test
  public void aRedirectedBlockIsAppendedToWhereItIs() throws IOException {
    SwitchedPolicy.redirects = true;
    byte[] content = DFSTestUtil.generateSequentialBytes(0, BLOCK_BYTES);
    try (FSDataOutputStream output = onSsd((short) 1)) {
      output.write(content, 0, BLOCK_BYTES / 2);
    }
    SwitchedPolicy.redirects = false;
    try (FSDataOutputStream output = files.append(FILE)) {
      output.write(content, BLOCK_BYTES / 2, BLOCK_BYTES / 2);
    }
    assertEquals(List.of(StorageType.DISK), storageTypes());
    assertArrayEquals(content, DFSTestUtil.readFileAsBytes(files, FILE));
  }

  @Test
  public void aCopyIsNotRedirected() throws Exception {
    try (FSDataOutputStream output = onSsd((short) 1)) {
      output.write(new byte[BLOCK_BYTES]);
    }
    SwitchedPolicy.redirects = true;
    files.setReplication(FILE, (short) 2);
    DFSTestUtil.waitReplication(files, FILE, (short) 2);
    assertEquals(List.of(StorageType.SSD, StorageType.SSD), storageTypes());
  }

  @Test
  public void theMoverBringsABlockWhereItMeansTo() throws Exception {
    SwitchedPolicy.redirects = true;
    try (FSDataOutputStream output = onSsd((short) 1)) {
      output.write(new byte[BLOCK_BYTES]);
    }
    assertEquals(List.of(StorageType.DISK), storageTypes());
    String[] path = {"-p", FILE.toString()};
    assertEquals(0, ToolRunner.run(cluster.getConfiguration(0), new Mover.Cli(), path));
    cluster.triggerBlockReports();
    assertEquals(List.of(StorageType.SSD), storageTypes());
  }

  private FSDataOutputStream onSsd(short replication) throws IOException {
    FSDataOutputStream output = files.create(FILE, replication);
    files.setStoragePolicy(FILE, HdfsConstants.ALLSSD_STORAGE_POLICY_NAME);
    return output;
  }

  private List<StorageType> storageTypes() throws IOException {
    List<StorageType> types = new ArrayList<>();
    for (BlockLocation block : files.getFileBlockLocations(FILE, 0, Long.MAX_VALUE)) {
      types.addAll(Arrays.asList(block.getStorageTypes()));
    }
    return types;
  }
}
