package dev.sluice.hbase.offload;

import dev.sluice.local.protocol.Json;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What a compaction of a store needs besides its files, so that another node does what the region
 * server would have done.
 *
 * @param region upstream's form of the region's RegionInfo
 * @param table upstream's form of the table's descriptor
 * @param family name of the family
 * @param files names of the files that are merged, in the store's folder
 * @param compactedFiles names of files that were merged before, and are not archived yet
 * @param smallestReadPoint the smallest one that a reader of the region has: what it sees is kept
 * @param isMajor whether it is a major compaction
 * @param isAllFiles whether it has all files of the store, so that deletions can be dropped
 * @param nowMillis the region server's clock, by which cells expire
 * @param settings of the region server, that decide what is written
 */
record OffloadRequest(
    byte[] region,
    byte[] table,
    String family,
    List<String> files,
    List<String> compactedFiles,
    long smallestReadPoint,
    boolean isMajor,
    boolean isAllFiles,
    long nowMillis,
    Map<String, String> settings) {

  byte[] encode() {
    Base64.Encoder base64 = Base64.getEncoder();
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("region", base64.encodeToString(region));
    members.put("table", base64.encodeToString(table));
    members.put("family", family);
    members.put("files", files);
    members.put("compacted_files", compactedFiles);
    members.put("smallest_read_point", Long.toString(smallestReadPoint));
    members.put("is_major", isMajor);
    members.put("is_all_files", isAllFiles);
    members.put("now_millis", Long.toString(nowMillis));
    members.put("settings", settings);
    return Json.write(members).getBytes(StandardCharsets.UTF_8);
  }

  static OffloadRequest decode(byte[] text) throws StaysLocalException {
    Members members = Members.read(text);
    return new OffloadRequest(
        members.bytes("region"),
        members.bytes("table"),
        members.text("family"),
        members.texts("files"),
        members.texts("compacted_files"),
        members.longNumber("smallest_read_point"),
        members.flag("is_major"),
        members.flag("is_all_files"),
        members.longNumber("now_millis"),
        members.textsByName("settings"));
  }
}
