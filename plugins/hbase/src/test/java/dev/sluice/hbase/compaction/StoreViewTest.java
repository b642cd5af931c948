package dev.sluice.hbase.compaction;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoreViewTest {
  private static final TableDescriptor TABLE =
      TableDescriptorBuilder.newBuilder(TableName.valueOf("orders")).build();

  private static HRegion region(boolean isReadOnly) {
    HRegion region = mock(HRegion.class);
    when(region.getTableDescriptor()).thenReturn(TABLE);
    when(region.isReadOnly()).thenReturn(isReadOnly);
    return region;
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void manyFilesMakeWritesWaitWhereThereAreWrites(boolean areEnabled) {
    HRegion region = region(false);
    when(region.areWritesEnabled()).thenReturn(areEnabled);
    assertEquals(areEnabled, new StoreView(region, null).makesWritesWait());
  }

  /** Upstream has its lock while it asks HDFS for the files of another server's region. */
  @Test
  void aReplicaIsNotAskedForWhatNeedsItsLock() {
    HRegion replica = region(true);
    assertFalse(new StoreView(replica, null).makesWritesWait());
    verify(replica, never()).areWritesEnabled();
  }
}
