package org.apache.hadoop.hbase.regionserver;

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.wal.WAL;
import org.apache.hadoop.hbase.wal.WALProvider;

/** The logs of a region server. */
public final class ServerLogs {
  private ServerLogs() {}

  /** Those of its regions, and that of hbase:meta, which the server itself does not name. */
  public static List<WAL> of(HRegionServer server) {
    List<WAL> logs = new ArrayList<>(server.getWALs());
    WALProvider meta = server.getWalFactory().getMetaWALProvider();
    if (meta != null) {
      logs.addAll(meta.getWALs());
    }
    return logs;
  }
}
