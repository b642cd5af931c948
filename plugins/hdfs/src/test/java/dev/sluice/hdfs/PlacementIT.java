package dev.sluice.hdfs;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sluice.local.protocol.ProtocolClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.DFSConfigKeys;
import org.apache.hadoop.hdfs.DFSTestUtil;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.VolumeChoosingPolicy;
import org.apache.hadoop.test.GenericTestUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The plug-in in DataNodes: orders, and what is right of a file whose blocks were redirected. */
class PlacementIT {
  private static final String BINARY_PROPERTY = "sluice.binary";
  private static final String FILE = "/log";
  private static final int WAIT_MILLIS = 300_000;
  private static final int PERIOD_MILLIS = 50;

  @TempDir private Path folder;
  private final Map<String, String> settings = new HashMap<>();
  private DataNodes nodes;

  private void start(int count, StorageType... types) throws Exception {
    nodes = new DataNodes(folder, settings, count, types);
  }

  private void startTiered(int count) throws Exception {
    assumeTrue(
        Arrays.stream(VolumeChoosingPolicy.class.getMethods())
            .anyMatch(method -> method.getName().equals("redirect")),
        "this hadoop-hdfs has not the hook");
    start(count, StorageType.SSD, StorageType.DISK);
  }

  @AfterEach
  void stop() {
    if (nodes != null) {
      nodes.close();
    }
  }

  @Test
  void itKeepsTheProtocol() throws Exception {
    String binary = System.getProperty(BINARY_PROPERTY, "");
    assumeTrue(!binary.isEmpty(), "give the path of the program sluice as " + BINARY_PROPERTY);
    start(1, StorageType.SSD, StorageType.DISK);
    Process process =
        new ProcessBuilder(
                binary, "local", "check", "--patience", "2m", nodes.socketPath(0).toString())
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), output);
  }

  @Test
  void eachBlockOfAnOpenFileGoesWhereTheOrderSays() throws Exception {
    startTiered(1);
    byte[] content = DFSTestUtil.generateSequentialBytes(0, 3 * DataNodes.BLOCK_BYTES);
    try (FSDataOutputStream output = nodes.create(FILE, 1)) {
      for (int block = 0; block < 3; block++) {
        nodes.orderTier(block == 1 ? "slow" : "fast");
        output.write(content, block * DataNodes.BLOCK_BYTES, DataNodes.BLOCK_BYTES);
        output.hsync();
      }
    }
    assertEquals(
        List.of(StorageType.SSD, StorageType.DISK, StorageType.SSD), nodes.storageTypes(FILE));
    assertArrayEquals(content, read());
    assertTrue(nodes.fsck().contains("is HEALTHY"));
    Map<?, ?> figures = nodes.figures(0);
    assertEquals(3.0, figures.get("redirect_asked_replicas_total"));
    assertEquals(1.0, figures.get("redirect_redirected_replicas_total"));
  }

  private byte[] read() throws Exception {
    return DFSTestUtil.readFileAsBytes(nodes.files(), new org.apache.hadoop.fs.Path(FILE));
  }

  @Test
  void whatIsRedirectedIsAppendedToAndSurvivesARestart() throws Exception {
    startTiered(1);
    byte[] content = DFSTestUtil.generateSequentialBytes(0, DataNodes.BLOCK_BYTES);
    nodes.orderTier("slow");
    try (FSDataOutputStream output = nodes.create(FILE, 1)) {
      output.write(content, 0, 1000);
    }
    nodes.orderTier("fast");
    try (FSDataOutputStream output = nodes.files().append(new org.apache.hadoop.fs.Path(FILE))) {
      output.write(content, 1000, content.length - 1000);
    }
    assertEquals(List.of(StorageType.DISK), nodes.storageTypes(FILE));
    assertTrue(nodes.cluster().restartDataNode(0, true));
    nodes.cluster().waitActive();
    nodes.cluster().triggerBlockReports();
    assertEquals(List.of(StorageType.DISK), nodes.storageTypes(FILE));
    assertArrayEquals(content, read());
  }

  @Test
  void aCopyIsNotRedirected() throws Exception {
    startTiered(2);
    try (FSDataOutputStream output = nodes.create(FILE, 1)) {
      output.write(1);
    }
    nodes.orderTier("slow");
    org.apache.hadoop.fs.Path file = new org.apache.hadoop.fs.Path(FILE);
    nodes.files().setReplication(file, (short) 2);
    await(() -> nodes.storageTypes(FILE).size() == 2);
    assertEquals(List.of(StorageType.SSD, StorageType.SSD), nodes.storageTypes(FILE));
  }

  @Test
  void bothCopiesThatAClientWritesAreRedirected() throws Exception {
    startTiered(2);
    nodes.orderTier("slow");
    try (FSDataOutputStream output = nodes.create(FILE, 2)) {
      output.write(1);
    }
    assertEquals(List.of(StorageType.DISK, StorageType.DISK), nodes.storageTypes(FILE));
  }

  @Test
  void whatNoDiskTakesGoesWhereItWasAskedFor() throws Exception {
    settings.put(RedirectingVolumeChoosingPolicy.CHOOSER_KEY, NoDisks.class.getName());
    startTiered(1);
    nodes.orderTier("slow");
    assertEquals(StorageType.SSD, nodes.placeOne(FILE));
    Map<?, ?> figures = nodes.figures(0);
    assertEquals(1.0, figures.get("redirect_asked_replicas_total"));
    assertEquals(0.0, figures.get("redirect_redirected_replicas_total"));
  }

  @Test
  void volumesThatAreThereBeforeThePlugInAreRedirectedToo() throws Exception {
    settings.put(
        DFSConfigKeys.DFS_DATANODE_PLUGINS_KEY,
        WaitsForVolumes.class.getName() + "," + DataNodePlugin.class.getName());
    startTiered(1);
    nodes.orderTier("slow");
    assertEquals(StorageType.DISK, nodes.placeOne(FILE));
  }

  @Test
  void withoutARenewalTheStoreGoesBackByItself() throws Exception {
    startTiered(1);
    nodes.orderTier("slow");
    assertEquals(StorageType.DISK, nodes.placeOne("/first"));
    nodes.orderTier("slow", 1);
    int[] count = {0};
    await(() -> nodes.placeOne("/next" + count[0]++) == StorageType.SSD);
  }

  private static void await(Callable<Boolean> condition) throws Exception {
    GenericTestUtils.waitFor(
        () -> {
          try {
            return condition.call();
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        },
        PERIOD_MILLIS,
        WAIT_MILLIS);
  }

  @Test
  void ordersDoNotOutliveTheDataNode() throws Exception {
    startTiered(1);
    nodes.orderTier("slow");
    assertTrue(nodes.cluster().restartDataNode(0, true));
    nodes.cluster().waitActive();
    assertEquals(StorageType.SSD, nodes.placeOne("/after"));
  }

  @Test
  void theSocketGoesWithItsDataNode() throws Exception {
    start(1, StorageType.SSD);
    assertTrue(Files.exists(nodes.socketPath(0)));
    nodes.cluster().stopDataNode(0);
    assertFalse(Files.exists(nodes.socketPath(0)));
  }

  @Test
  void aDataNodeWithoutTheSlowTierRefusesIt() throws Exception {
    start(1, StorageType.SSD);
    assertThrows(ProtocolClient.RefusedException.class, () -> nodes.orderTier("slow"));
    assertEquals(StorageType.SSD, nodes.placeOne("/first"));
  }
}
