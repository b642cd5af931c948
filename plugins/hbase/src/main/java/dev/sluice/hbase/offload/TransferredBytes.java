package dev.sluice.hbase.offload;

import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.StorageStatistics;

/** What this process has read from HDFS, and written to it, so far. */
record TransferredBytes(long read, long written) {
  static TransferredBytes now() {
    StorageStatistics statistics = FileSystem.getGlobalStorageStatistics().get("hdfs");
    return new TransferredBytes(
        number(statistics, "bytesRead"), number(statistics, "bytesWritten"));
  }

  private static long number(StorageStatistics statistics, String name) {
    Long number = statistics == null ? null : statistics.getLong(name);
    return number == null ? 0 : number;
  }
}
