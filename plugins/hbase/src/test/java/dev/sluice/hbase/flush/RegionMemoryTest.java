package dev.sluice.hbase.flush;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.mockito.Mockito.doReturn;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import dev.sluice.local.lease.FakeClock;
import dev.sluice.local.lease.LeaseStore;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.lease.Setting;
import dev.sluice.local.lease.SettingName;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RegionMemoryTest {
  private static final long FLUSH_BYTES = 100;
  private static final int MULTIPLIER = 4;

  private final HRegion ofUsers = region(TableName.valueOf("orders"));
  private final HRegion ofSystem = region(TableName.NAMESPACE_TABLE_NAME);
  private final RegionServerServices server = mock(RegionServerServices.class);
  private final RegionMemory memory = new RegionMemory(server);

  private static HRegion region(TableName table) {
    Configuration conf = new Configuration(false);
    conf.setInt(HConstants.HREGION_MEMSTORE_BLOCK_MULTIPLIER, MULTIPLIER);
    HRegion region = mock(HRegion.class);
    when(region.getRegionInfo()).thenReturn(RegionInfoBuilder.newBuilder(table).build());
    when(region.getReadOnlyConfiguration()).thenReturn(conf);
    when(region.getMemStoreFlushSize()).thenReturn(FLUSH_BYTES);
    return region;
  }

  @BeforeEach
  void open() {
    doReturn(List.of(ofUsers, ofSystem)).when(server).getRegions();
  }

  @Test
  void aFullRegionOfASystemTableEndsOrdersToo() throws Exception {
    LeaseStore leases = new LeaseStore(new FakeClock());
    MemoryGuard guard = new MemoryGuard(leases, memory::limits, () -> 0);
    leases.set("flush", Scope.SERVER, Setting.of(SettingName.HOLD), "test", 60, false);
    when(ofSystem.getMemStoreHeapSize()).thenReturn(299L);
    guard.look();
    assertEquals(1, leases.all().size());
    when(ofSystem.getMemStoreHeapSize()).thenReturn(300L);
    guard.look();
    assertEquals(List.of(), leases.all());
  }

  @Test
  void anOrderOnTheServerStartsNoFlushOfASystemTable() {
    assertEquals(List.of(ofUsers), memory.regions(Scope.SERVER));
  }
}
