package dev.sluice.hbase.offload;

import dev.sluice.hbase.PluginCluster;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.util.Bytes;

/** Tables with the same cells, of which one is compacted here and one elsewhere. */
final class TwinTables {
  private static final byte[] EXPIRING = Bytes.toBytes("t");
  private static final byte[] KEPT = Bytes.toBytes("v");
  private static final byte[] QUALIFIER = Bytes.toBytes("q");
  private static final long MINUTE_MILLIS = 60_000;

  private final PluginCluster cluster;

  TwinTables(PluginCluster cluster) {
    this.cluster = cluster;
  }

  List<byte[]> families() {
    return List.of(EXPIRING, KEPT);
  }

  private static ColumnFamilyDescriptorBuilder family(byte[] name) {
    return ColumnFamilyDescriptorBuilder.newBuilder(name)
        .setMaxVersions(2)
        .setCompressionType(Compression.Algorithm.GZ)
        .setDataBlockEncoding(DataBlockEncoding.FAST_DIFF)
        .setBloomFilterType(BloomType.ROWCOL);
  }

  /** One that is not remote is compacted by its server, whatever the agents could do. */
  TableName create(String name, boolean isRemote) throws IOException {
    ColumnFamilyDescriptor expiring =
        family(EXPIRING).setTimeToLive((int) (30 * MINUTE_MILLIS / 1000)).build();
    TableDescriptorBuilder table =
        TableDescriptorBuilder.newBuilder(TableName.valueOf(name))
            .setColumnFamily(expiring)
            .setColumnFamily(family(KEPT).build());
    if (!isRemote) {
      table.setValue(OffloadingCompactor.SOCKET_KEY, OffloadingCompactor.NONE);
    }
    cluster.admin().createTable(table.build());
    return TableName.valueOf(name);
  }

  private static byte[] row(int number) {
    return Bytes.toBytes(String.format("%06d", number));
  }

  private void put(TableName table, int first, int count, long time, String value)
      throws IOException {
    List<Put> puts = new ArrayList<>();
    for (int number = first; number < first + count; number++) {
      for (byte[] family : families()) {
        puts.add(
            new Put(row(number)).addColumn(family, QUALIFIER, time, Bytes.toBytes(value + number)));
      }
    }
    try (Table open = cluster.utility().getConnection().getTable(table)) {
      open.put(puts);
    }
  }

  /** Versions, marks of deletion of each sort, and cells that have expired, in several files. */
  void fill(TableName table, long now) throws Exception {
    put(table, 0, 20_000, now - 20 * MINUTE_MILLIS, "first");
    cluster.utility().flush(table);
    put(table, 0, 60, now - 60 * MINUTE_MILLIS, "expired");
    put(table, 20, 60, now - 3 * MINUTE_MILLIS, "second");
    cluster.utility().flush(table);
    put(table, 40, 60, now - 2 * MINUTE_MILLIS, "third");
    put(table, 60, 10, now - MINUTE_MILLIS, "fourth");
    cluster.utility().flush(table);
    try (Table open = cluster.utility().getConnection().getTable(table)) {
      open.delete(new Delete(row(10), now - MINUTE_MILLIS));
      open.delete(new Delete(row(30)).addColumn(KEPT, QUALIFIER, now - 3 * MINUTE_MILLIS));
      open.delete(new Delete(row(50)).addColumns(KEPT, QUALIFIER, now - 2 * MINUTE_MILLIS));
      open.delete(new Delete(row(70)).addFamily(EXPIRING, now - MINUTE_MILLIS));
      open.delete(new Delete(row(75)).addFamilyVersion(KEPT, now - 2 * MINUTE_MILLIS));
    }
    cluster.utility().flush(table);
  }

  /** All cells of a table's files, also those that are marked as deleted, and their marks. */
  List<String> cells(TableName table) throws IOException {
    List<String> cells = new ArrayList<>();
    try (Table open = cluster.utility().getConnection().getTable(table);
        ResultScanner results =
            open.getScanner(new Scan().setRaw(true).readAllVersions().setCacheBlocks(false))) {
      for (Result result : results) {
        for (Cell cell : result.rawCells()) {
          cells.add(
              CellUtil.toString(cell, true).replaceFirst("/seqid=[0-9]+", "")
                  + "="
                  + Bytes.toString(CellUtil.cloneValue(cell)));
        }
      }
    }
    return cells;
  }

  List<String> files(TableName table) throws IOException {
    List<String> files = new ArrayList<>();
    for (HRegion region : cluster.regions(table)) {
      for (HStore store : region.getStores()) {
        for (HStoreFile file : store.getStorefiles()) {
          files.add(
              String.join(
                  " ",
                  store.getColumnFamilyName(),
                  String.valueOf(file.getReader().getEntries()),
                  String.valueOf(file.isMajorCompactionResult()),
                  String.valueOf(file.getReader().getBloomFilterType()),
                  String.valueOf(file.getReader().getHFileReader().getDataBlockEncoding()),
                  file.getReader().getHFileReader().getFileContext().getCompression().getName(),
                  String.valueOf(file.getReader().getMaxTimestamp()),
                  String.valueOf(file.getReader().getDeleteFamilyCnt())));
        }
      }
    }
    files.sort(null);
    return files;
  }
}
