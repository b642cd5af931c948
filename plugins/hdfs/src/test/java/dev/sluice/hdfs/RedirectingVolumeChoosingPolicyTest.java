package dev.sluice.hdfs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.local.plugin.PluginSocket;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.StorageType;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.Mockito;

class RedirectingVolumeChoosingPolicyTest {
  private static final long BLOCK_BYTES = 128;

  @TempDir private Path folder;
  private final Configuration conf = new Configuration(false);
  private final DataNodePlugin plugin = new DataNodePlugin();
  private final RedirectingVolumeChoosingPolicy<FsVolumeSpi> policy =
      new RedirectingVolumeChoosingPolicy<>();

  @BeforeEach
  void start() {
    conf.set(PluginSocket.DIRECTORY_KEY, folder.toString());
    conf.set(PlacementSettings.PREFIX + "queue.requests", "4");
    DataNode dataNode = Mockito.mock(DataNode.class);
    Mockito.when(dataNode.getConf()).thenReturn(conf);
    plugin.start(dataNode);
    policy.setConf(conf);
  }

  @AfterEach
  void stop() {
    plugin.stop();
  }

  /** A write must not fail for it, also not for what a version of the store does not have. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aFaultRedirectsNothing(boolean isAnotherVersion) {
    FsVolumeSpi volume = Mockito.mock(FsVolumeSpi.class);
    Mockito.when(volume.getStorageType())
        .thenThrow(
            isAnotherVersion
                ? new NoSuchMethodError("not in this version")
                : new IllegalStateException("a fault"));
    assertEquals(StorageType.SSD, policy.redirect(List.of(volume), StorageType.SSD, BLOCK_BYTES));
  }
}
