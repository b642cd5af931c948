package dev.sluice.hdfs;

import java.util.concurrent.TimeoutException;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.test.GenericTestUtils;
import org.apache.hadoop.util.ServicePlugin;

/** Has the plug-ins behind it start after the DataNode has its volumes. */
public final class WaitsForVolumes implements ServicePlugin {
  private static final int PERIOD_MILLIS = 20;
  private static final int WAIT_MILLIS = 300_000;

  @Override
  public void start(Object service) {
    DataNode dataNode = (DataNode) service;
    try {
      GenericTestUtils.waitFor(() -> dataNode.getFSDataset() != null, PERIOD_MILLIS, WAIT_MILLIS);
    } catch (TimeoutException | InterruptedException e) {
      throw new IllegalStateException("the DataNode has no volumes", e);
    }
  }

  @Override
  public void stop() {}

  @Override
  public void close() {}
}
