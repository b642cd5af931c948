package dev.sluice.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.apache.hadoop.hbase.TableName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The checks of the local protocol that any plug-in is run through, on region server and master.
 */
@ExtendWith(PluginCluster.Shared.class)
class LocalContractIT {
  private static final String BINARY_PROPERTY = "sluice.binary";

  @Test
  void theRegionServerKeepsTheProtocol(PluginCluster cluster) throws Exception {
    check(cluster, "contract", cluster.socketPath());
  }

  @Test
  void theMasterKeepsTheProtocol(PluginCluster cluster) throws Exception {
    check(cluster, "mastercontract", cluster.masterSocketPath());
  }

  private static void check(PluginCluster cluster, String tableName, Path socketPath)
      throws Exception {
    String binary = System.getProperty(BINARY_PROPERTY, "");
    assumeTrue(!binary.isEmpty(), "give the path of the program sluice as " + BINARY_PROPERTY);
    TableName table = cluster.create(tableName);
    cluster.addFile(table, 0, 10);
    Process process =
        new ProcessBuilder(binary, "local", "check", "--patience", "2m", socketPath.toString())
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(0, process.waitFor(), output);
  }
}
