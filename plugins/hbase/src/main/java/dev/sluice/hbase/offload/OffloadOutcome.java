package dev.sluice.hbase.offload;

import dev.sluice.local.protocol.Json;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * What a compaction has come to on another node.
 *
 * @param files what was written, in the order of upstream's compactor
 * @param cells how many cells were written
 * @param cellBytes their size, as upstream counts it for its metrics
 */
record OffloadOutcome(List<OutputFile> files, long cells, long cellBytes) {
  /** A file in the folder of the family, below the job's. */
  record OutputFile(String name, long bytes, long entries) {}

  byte[] encode() {
    List<Object> written = new ArrayList<>();
    for (OutputFile file : files) {
      written.add(Map.of("name", file.name(), "bytes", file.bytes(), "entries", file.entries()));
    }
    return Json.write(Map.of("files", written, "cells", cells, "cell_bytes", cellBytes))
        .getBytes(StandardCharsets.UTF_8);
  }

  static OffloadOutcome decode(byte[] text) throws StaysLocalException {
    Members members = Members.read(text);
    List<OutputFile> files = new ArrayList<>();
    for (Members file : members.objects("files")) {
      files.add(new OutputFile(file.text("name"), file.number("bytes"), file.number("entries")));
    }
    return new OffloadOutcome(files, members.number("cells"), members.number("cell_bytes"));
  }
}
