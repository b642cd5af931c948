package dev.sluice.hdfs;

import dev.sluice.local.protocol.FigureName;
import dev.sluice.local.protocol.Snapshot;
import dev.sluice.local.redirect.BlockDevice;
import java.util.Locale;
import java.util.Optional;
import org.apache.hadoop.hdfs.server.datanode.fsdataset.FsVolumeSpi;

/** What snapshots say of a volume: its figures begin with its type and its folder. */
final class VolumeFigures {
  private VolumeFigures() {}

  static void report(
      Snapshot.Builder snapshot,
      FsVolumeSpi volume,
      Optional<BlockDevice.Reading> reading,
      long redirects) {
    snapshot.figure(name(volume, "redirected_replicas_total"), redirects);
    reading.ifPresent(
        device -> {
          snapshot.figure(name(volume, "queue_requests"), device.queueRequests());
          snapshot.figure(name(volume, "written_bytes_total"), device.writtenBytes());
        });
  }

  private static String name(FsVolumeSpi volume, String suffix) {
    String type = volume.getStorageType().toString().toLowerCase(Locale.ROOT);
    return FigureName.of("volume_" + type, folder(volume), suffix);
  }

  private static String folder(FsVolumeSpi volume) {
    String path = volume.getBaseURI().getPath();
    return path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
  }
}
