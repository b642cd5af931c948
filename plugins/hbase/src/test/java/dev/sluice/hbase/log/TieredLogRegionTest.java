package dev.sluice.hbase.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.CancelableProgressable;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.apache.hadoop.hbase.wal.WAL;
import org.apache.hadoop.hbase.wal.WALEdit;
import org.apache.hadoop.hbase.wal.WALFactory;
import org.apache.hadoop.hbase.wal.WALKeyImpl;
import org.apache.hadoop.hbase.wal.WALProvider;
import org.apache.hadoop.hbase.wal.WALSplitUtil;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Replays that end early, on the files of a folder. */
class TieredLogRegionTest {
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] QUALIFIER = Bytes.toBytes("q");
  private static final int EDITS = 400;
  // A few dozen edits.
  private static final int FLUSH_BYTES = 5_000;

  @TempDir java.nio.file.Path folder;

  private final Configuration conf = HBaseConfiguration.create();
  private final TableDescriptor table =
      TableDescriptorBuilder.newBuilder(TableName.valueOf("table"))
          .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY))
          .setMemStoreFlushSize(FLUSH_BYTES)
          .build();
  private final RegionInfo info = RegionInfoBuilder.newBuilder(table.getTableName()).build();
  private HRegion region;

  @BeforeEach
  void create() throws IOException {
    conf.setClass(HConstants.REGION_IMPL, TieredLogRegion.class, HRegion.class);
    conf.setBoolean("fs.file.impl.disable.cache", true);
    conf.setBoolean(CommonFSUtils.UNSAFE_STREAM_CAPABILITY_ENFORCE, false);
    conf.setBoolean("hbase.hregion.memstore.mslab.enabled", false);
    // Whoever watches a replay is asked at each edit.
    conf.setInt("hbase.hstore.report.interval.edits", 1);
    conf.setInt("hbase.hstore.report.period", 0);
    Path root = new Path(folder.toUri());
    CommonFSUtils.setRootDir(conf, root);
    HRegion.createHRegion(info, root, conf, table, null).close(true);
  }

  @AfterEach
  void close() throws IOException {
    if (region != null) {
      region.close(true);
    }
  }

  /** Writes a file of edits as a log is split into. */
  private void write(IntPredicate numbers) throws IOException {
    int[] ofFile = IntStream.rangeClosed(1, EDITS).filter(numbers).toArray();
    Path edits =
        WALSplitUtil.getRegionDirRecoveredEditsDir(
            CommonFSUtils.getWALRegionDir(conf, info.getTable(), info.getEncodedName()));
    FileSystem files = CommonFSUtils.getWALFileSystem(conf);
    files.mkdirs(edits);
    Path file = new Path(edits, String.format("%019d", ofFile[ofFile.length - 1]));
    try (WALProvider.Writer writer = WALFactory.createWALWriter(files, file, conf)) {
      for (int number : ofFile) {
        writer.append(entry(number));
      }
    }
  }

  private WAL.Entry entry(int number) {
    WALEdit edit = new WALEdit();
    edit.add(new KeyValue(row(number), FAMILY, QUALIFIER, 1L, row(number)));
    return new WAL.Entry(
        new WALKeyImpl(
            info.getEncodedNameAsBytes(),
            info.getTable(),
            number,
            1L,
            HConstants.DEFAULT_CLUSTER_ID),
        edit);
  }

  private static byte[] row(int number) {
    return Bytes.toBytes(String.format("%08d", number));
  }

  private void replayUntil(int edits) {
    AtomicInteger seen = new AtomicInteger();
    CancelableProgressable watcher = () -> seen.incrementAndGet() <= edits;
    assertThrows(
        IOException.class, () -> HRegion.openHRegion(info, table, null, conf, null, watcher));
    assertEquals(edits + 1, seen.get());
  }

  private void open() throws IOException {
    region = HRegion.openHRegion(info, table, null, conf);
  }

  /** What the files of the region said to be flushed when it was opened. */
  private long flushed() {
    return region.getMaxStoreSeqId().get(FAMILY);
  }

  private List<Integer> lost() throws IOException {
    List<Integer> lost = new ArrayList<>();
    for (int number = 1; number <= EDITS; number++) {
      if (region.get(new Get(row(number))).isEmpty()) {
        lost.add(number);
      }
    }
    return lost;
  }

  @Test
  void anInterruptedReplayOfTwoLogsLosesNothing() throws Exception {
    write(number -> number % 2 == 1);
    write(number -> number % 2 == 0);
    // The first file, and an edit of the other.
    replayUntil(EDITS / 2 + 1);
    open();
    assertEquals(List.of(), lost());
    assertEquals(0, flushed());
  }

  @Test
  void aReplayThatIsInterruptedAgainLosesNothing() throws Exception {
    write(number -> number % 2 == 1);
    write(number -> number % 2 == 0);
    replayUntil(EDITS / 2 + 1);
    replayUntil(EDITS / 4);
    replayUntil(EDITS - 1);
    open();
    assertEquals(List.of(), lost());
  }

  @Test
  void aReplayThatEndsIsSaidToBeFlushed() throws Exception {
    write(number -> number % 2 == 1);
    write(number -> number % 2 == 0);
    open();
    region.close(true);
    open();
    assertEquals(EDITS, flushed());
    assertEquals(List.of(), lost());
  }

  @Test
  void filesOfOneLogAreNotReplayedAgain() throws Exception {
    write(number -> number <= EDITS / 2);
    write(number -> number > EDITS / 2);
    replayUntil(EDITS - 1);
    open();
    assertTrue(flushed() > EDITS / 2);
    assertEquals(List.of(), lost());
  }
}
