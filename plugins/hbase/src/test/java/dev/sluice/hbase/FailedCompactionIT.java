package dev.sluice.hbase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.sluice.local.protocol.ProtocolClient;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.coprocessor.ObserverContext;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessor;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessorEnvironment;
import org.apache.hadoop.hbase.coprocessor.RegionObserver;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.InternalScanner;
import org.apache.hadoop.hbase.regionserver.ScanType;
import org.apache.hadoop.hbase.regionserver.Store;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionLifeCycleTracker;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What a compaction that fails before its first row leaves behind. */
@ExtendWith(PluginCluster.Shared.class)
class FailedCompactionIT {
  private static final String KIND = "compaction";
  private static final int ROWS = 100;

  private final PluginCluster cluster;

  FailedCompactionIT(PluginCluster cluster) {
    this.cluster = cluster;
  }

  /** Refuses the first compaction of its table, once all files are open. */
  public static final class RefusesOnce implements RegionCoprocessor, RegionObserver {
    private static final AtomicInteger SEEN = new AtomicInteger();

    @Override
    public Optional<RegionObserver> getRegionObserver() {
      return Optional.of(this);
    }

    @Override
    public InternalScanner preCompact(
        ObserverContext<RegionCoprocessorEnvironment> context,
        Store store,
        InternalScanner scanner,
        ScanType scanType,
        CompactionLifeCycleTracker tracker,
        CompactionRequest request)
        throws IOException {
      if (SEEN.getAndIncrement() == 0) {
        throw new IOException("refused by the test");
      }
      return scanner;
    }
  }

  /** A file with a reader is not archived: its space would not come back before a restart. */
  @Test
  void noReaderIsLeft() throws Exception {
    TableDescriptor descriptor =
        TableDescriptorBuilder.newBuilder(TableName.valueOf("refused"))
            .setColumnFamily(ColumnFamilyDescriptorBuilder.of(PluginCluster.FAMILY))
            .setCoprocessor(RefusesOnce.class.getName())
            .build();
    cluster.admin().createTable(descriptor);
    TableName table = descriptor.getTableName();
    cluster.addFile(table, 0, ROWS);
    cluster.addFile(table, ROWS, ROWS);
    long before = cluster.contentHash(table);
    try (ProtocolClient client = cluster.client()) {
      client.start(KIND, "refused");
      cluster.await(() -> RefusesOnce.SEEN.get() == 1 && !cluster.isUnderCompaction(table));
      assertEquals(2, cluster.fileCount(table));
      assertFalse(
          cluster.regions(table).get(0).getStores().get(0).getStorefiles().stream()
              .anyMatch(HStoreFile::isReferencedInReads));
      client.start(KIND, "refused");
      cluster.await(() -> cluster.fileCount(table) == 1);
    }
    assertEquals(before, cluster.contentHash(table));
  }
}
