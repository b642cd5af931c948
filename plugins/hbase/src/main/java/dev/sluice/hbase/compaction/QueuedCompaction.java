package dev.sluice.hbase.compaction;

import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.hbase.regionserver.CompactSplit;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;

/**
 * A compaction in one of the store's own queues.
 *
 * @param store as in {@link StoreView#keyOf}
 * @param sinceMillis when it was requested, in the time of the store
 */
record QueuedCompaction(String store, long sinceMillis) {
  // A line of CompactSplit.dumpQueue(): its tasks are of a private class, and this is what they
  // show of themselves, with their files or without. Keys in a region's name can hold anything.
  private static final Pattern LINE =
      Pattern.compile(
          " *(?:Request=regionName|region)=.*\\.([0-9a-f]{32})\\.,"
              + " storeName=(?:[0-9a-f]*/)?([^/:]+?),"
              + " (?:fileCount|priority)=.*(?:time|startTime)=(\\d{1,18})");

  /** Those that wait in the queues, in no order. */
  static List<QueuedCompaction> all(RegionServerServices services) {
    return services.getCompactionRequestor() instanceof CompactSplit split
        ? split.dumpQueue().lines().flatMap(line -> parse(line).stream()).toList()
        : List.of();
  }

  /** Reads a line; empty if it is about no compaction. */
  static Optional<QueuedCompaction> parse(String line) {
    Matcher found = LINE.matcher(line);
    if (!found.matches()) {
      return Optional.empty();
    }
    String store = found.group(1) + "#" + found.group(2);
    return Optional.of(new QueuedCompaction(store, Long.parseLong(found.group(3))));
  }
}
