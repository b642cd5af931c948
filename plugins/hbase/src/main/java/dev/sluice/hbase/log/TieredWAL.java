package dev.sluice.hbase.log;

import dev.sluice.local.redirect.Tier;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.regionserver.wal.WALActionsListener;
import org.apache.hadoop.hbase.regionserver.wal.WALCoprocessorHost;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.wal.WAL;
import org.apache.hadoop.hbase.wal.WALEdit;
import org.apache.hadoop.hbase.wal.WALKeyImpl;

/**
 * The log of regions where there are two: each edit goes to one of them. An edit is durable when
 * its log is synced, so the number that an append gives says which that is. Both logs count which
 * sequence numbers of a region they hold; a region's flush asks and tells both.
 */
final class TieredWAL implements WAL {
  private final Map<Tier, WAL> logs = new EnumMap<>(Tier.class);
  private final TierChooser chooser;

  TieredWAL(WAL fast, WAL slow, TierChooser chooser) {
    logs.put(Tier.FAST, fast);
    logs.put(Tier.SLOW, slow);
    this.chooser = chooser;
  }

  private static long numberOf(Tier tier, long number) {
    return number << 1 | tier.ordinal();
  }

  private static Tier tierOf(long number) {
    return Tier.values()[(int) (number & 1)];
  }

  @Override
  public long appendData(RegionInfo region, WALKeyImpl key, WALEdit edits) throws IOException {
    Tier tier = chooser.choose(edits.heapSize());
    return numberOf(tier, logs.get(tier).appendData(region, key, edits));
  }

  /** Marks go to the fast log: they are small, and few. */
  @Override
  public long appendMarker(RegionInfo region, WALKeyImpl key, WALEdit edits) throws IOException {
    return numberOf(Tier.FAST, logs.get(Tier.FAST).appendMarker(region, key, edits));
  }

  @FunctionalInterface
  private interface Sync {
    void of(WAL log) throws IOException;
  }

  private void sync(Tier tier, Sync sync) throws IOException {
    chooser.begun(tier);
    try {
      sync.of(logs.get(tier));
    } finally {
      chooser.ended(tier);
    }
  }

  @Override
  public void sync() throws IOException {
    for (Tier tier : Tier.values()) {
      sync(tier, WAL::sync);
    }
  }

  @Override
  public void sync(boolean forceSync) throws IOException {
    for (Tier tier : Tier.values()) {
      sync(tier, log -> log.sync(forceSync));
    }
  }

  @Override
  public void sync(long number) throws IOException {
    sync(tierOf(number), log -> log.sync(number >> 1));
  }

  @Override
  public void sync(long number, boolean forceSync) throws IOException {
    sync(tierOf(number), log -> log.sync(number >> 1, forceSync));
  }

  @Override
  public Map<byte[], List<byte[]>> rollWriter() throws IOException {
    return rollWriter(false);
  }

  /** Rolls both, and gives the families that either wants flushed; null for none. */
  @Override
  public Map<byte[], List<byte[]>> rollWriter(boolean force) throws IOException {
    Map<byte[], List<byte[]>> wanted = new TreeMap<>(Bytes.BYTES_COMPARATOR);
    for (WAL log : logs.values()) {
      Map<byte[], List<byte[]>> found = log.rollWriter(force);
      if (found != null) {
        found.forEach((region, families) -> addTo(wanted, region, families));
      }
    }
    return wanted.isEmpty() ? null : wanted;
  }

  private static void addTo(
      Map<byte[], List<byte[]>> wanted, byte[] region, List<byte[]> families) {
    List<byte[]> known = wanted.computeIfAbsent(region, each -> new ArrayList<>());
    for (byte[] family : families) {
      if (known.stream().noneMatch(other -> Bytes.equals(other, family))) {
        known.add(family);
      }
    }
  }

  @Override
  public void registerWALActionsListener(WALActionsListener listener) {
    logs.values().forEach(log -> log.registerWALActionsListener(listener));
  }

  @Override
  public boolean unregisterWALActionsListener(WALActionsListener listener) {
    boolean wasThere = false;
    for (WAL log : logs.values()) {
      wasThere |= log.unregisterWALActionsListener(listener);
    }
    return wasThere;
  }

  @Override
  public void shutdown() throws IOException {
    try {
      logs.get(Tier.FAST).shutdown();
    } finally {
      logs.get(Tier.SLOW).shutdown();
    }
  }

  @Override
  public void close() throws IOException {
    try {
      logs.get(Tier.FAST).close();
    } finally {
      logs.get(Tier.SLOW).close();
    }
  }

  @Override
  public void updateStore(
      byte[] encodedRegionName, byte[] familyName, Long sequenceId, boolean onlyIfGreater) {
    logs.values()
        .forEach(log -> log.updateStore(encodedRegionName, familyName, sequenceId, onlyIfGreater));
  }

  @FunctionalInterface
  private interface FlushStart {
    Long of(WAL log);
  }

  /** Begins in both or in neither; null, as of one log, while the region closes. */
  private Long startFlush(byte[] encodedRegionName, FlushStart start) {
    Long fast = start.of(logs.get(Tier.FAST));
    if (fast == null) {
      return null;
    }
    Long slow = start.of(logs.get(Tier.SLOW));
    if (slow == null) {
      logs.get(Tier.FAST).abortCacheFlush(encodedRegionName);
      return null;
    }
    return earlier(fast, slow);
  }

  private static long earlier(long one, long other) {
    if (one == HConstants.NO_SEQNUM) {
      return other;
    }
    return other == HConstants.NO_SEQNUM ? one : Math.min(one, other);
  }

  @Override
  public Long startCacheFlush(byte[] encodedRegionName, Set<byte[]> families) {
    return startFlush(encodedRegionName, log -> log.startCacheFlush(encodedRegionName, families));
  }

  @Override
  public Long startCacheFlush(byte[] encodedRegionName, Map<byte[], Long> familyToSequence) {
    return startFlush(
        encodedRegionName, log -> log.startCacheFlush(encodedRegionName, familyToSequence));
  }

  @Override
  public void completeCacheFlush(byte[] encodedRegionName, long maxFlushedSequenceId) {
    logs.values().forEach(log -> log.completeCacheFlush(encodedRegionName, maxFlushedSequenceId));
  }

  @Override
  public void abortCacheFlush(byte[] encodedRegionName) {
    logs.values().forEach(log -> log.abortCacheFlush(encodedRegionName));
  }

  @Override
  public WALCoprocessorHost getCoprocessorHost() {
    return logs.get(Tier.FAST).getCoprocessorHost();
  }

  @Override
  @Deprecated
  public long getEarliestMemStoreSeqNum(byte[] encodedRegionName) {
    return earlier(
        logs.get(Tier.FAST).getEarliestMemStoreSeqNum(encodedRegionName),
        logs.get(Tier.SLOW).getEarliestMemStoreSeqNum(encodedRegionName));
  }

  @Override
  public long getEarliestMemStoreSeqNum(byte[] encodedRegionName, byte[] familyName) {
    return earlier(
        logs.get(Tier.FAST).getEarliestMemStoreSeqNum(encodedRegionName, familyName),
        logs.get(Tier.SLOW).getEarliestMemStoreSeqNum(encodedRegionName, familyName));
  }

  @Override
  public OptionalLong getLogFileSizeIfBeingWritten(Path path) {
    OptionalLong fast = logs.get(Tier.FAST).getLogFileSizeIfBeingWritten(path);
    return fast.isPresent() ? fast : logs.get(Tier.SLOW).getLogFileSizeIfBeingWritten(path);
  }

  @Override
  public String toString() {
    return logs.toString();
  }
}
