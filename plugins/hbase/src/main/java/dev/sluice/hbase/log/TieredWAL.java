package dev.sluice.hbase.log;

import dev.sluice.local.redirect.Tier;
import java.io.IOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
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
 * sequence numbers of a region they hold, and a region's flush tells both, since their files go by
 * that. What is not flushed yet is told here, where it is known before either log knows.
 */
final class TieredWAL implements WAL {
  private final Map<Tier, WAL> logs = new EnumMap<>(Tier.class);
  // The number of what was appended last, as each log gives it.
  private final Map<Tier, AtomicLong> appended = new EnumMap<>(Tier.class);
  private final UnflushedEdits unflushed = new UnflushedEdits();
  private final TierChooser chooser;

  TieredWAL(WAL fast, WAL slow, TierChooser chooser) {
    logs.put(Tier.FAST, fast);
    logs.put(Tier.SLOW, slow);
    this.chooser = chooser;
    for (Tier tier : Tier.values()) {
      appended.put(tier, new AtomicLong());
    }
  }

  /** Notes what was appended, and gives the number by which it is synced. */
  private long noted(Tier tier, long number) {
    appended.get(tier).accumulateAndGet(number, Math::max);
    return number << 1 | tier.ordinal();
  }

  private static Tier tierOf(long number) {
    return Tier.values()[(int) (number & 1)];
  }

  @Override
  public long appendData(RegionInfo region, WALKeyImpl key, WALEdit edits) throws IOException {
    Tier tier = chooser.choose(edits.heapSize());
    unflushed.note(key, edits);
    return noted(tier, logs.get(tier).appendData(region, key, edits));
  }

  /** Marks go to the fast log: they are small, and few. */
  @Override
  public long appendMarker(RegionInfo region, WALKeyImpl key, WALEdit edits) throws IOException {
    long number = logs.get(Tier.FAST).appendMarker(region, key, edits);
    if (edits.isRegionCloseMarker()) {
      forgetInSlow(key.getEncodedRegionName());
    }
    return noted(Tier.FAST, number);
  }

  /**
   * The fast log forgets the region for the mark that it gets. The slow one may still have an edit
   * in its accounts that was never in memory, since its sync has failed or was interrupted. Nobody
   * flushes the region for it any more: its file would stay, and of a log with too many files only
   * the regions of the oldest are flushed.
   */
  private void forgetInSlow(byte[] region) {
    WAL slow = logs.get(Tier.SLOW);
    if (slow.startCacheFlush(region, unflushed.forget(region)) != null) {
      slow.completeCacheFlush(region, HConstants.NO_SEQNUM);
    }
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

  /**
   * Of what was appended to both. A flush relies on that: what was appended before it began is in
   * the accounts of its log when it ends, and keeps no file afterwards. A log where all is synced
   * is left alone: its stream may have broken while nobody wrote. That is mended by a roll, while a
   * flush that fails here leaves its snapshot to the next one, which is then said to have flushed
   * what has come since as well.
   */
  @Override
  public void sync() throws IOException {
    for (Tier tier : Tier.values()) {
      long last = appended.get(tier).get();
      sync(tier, log -> log.sync(last));
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
  public Map<byte[], List<byte[]>> rollWriter() {
    return rollWriter(false);
  }

  /** Rolls nothing: the region server has both logs rolled, each when it needs it. */
  @Override
  public Map<byte[], List<byte[]>> rollWriter(boolean force) {
    return null;
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

  /**
   * Does nothing. Upstream tells here the lowest number that a compaction in memory has left of a
   * family. An edit with a lower one may still wait for the other log, and be in memory alone
   * later: its file would go before it is flushed, or its replay would skip it.
   */
  @Override
  public void updateStore(
      byte[] encodedRegionName, byte[] familyName, Long sequenceId, boolean onlyIfGreater) {}

  @Override
  public Long startCacheFlush(byte[] encodedRegionName, Set<byte[]> families) {
    Map<byte[], Long> whole = new TreeMap<>(Bytes.BYTES_COMPARATOR);
    families.forEach(family -> whole.put(family, HConstants.NO_SEQNUM));
    return startCacheFlush(encodedRegionName, whole);
  }

  /** Begins in both or in neither; null, as of one log, while the region closes. */
  @Override
  public Long startCacheFlush(byte[] encodedRegionName, Map<byte[], Long> familyToSequence) {
    WAL fast = logs.get(Tier.FAST);
    if (fast.startCacheFlush(encodedRegionName, familyToSequence) == null) {
      return null;
    }
    if (logs.get(Tier.SLOW).startCacheFlush(encodedRegionName, familyToSequence) == null) {
      fast.abortCacheFlush(encodedRegionName);
      return null;
    }
    return unflushed.startFlush(encodedRegionName, familyToSequence);
  }

  @Override
  public void completeCacheFlush(byte[] encodedRegionName, long maxFlushedSequenceId) {
    unflushed.completeFlush(encodedRegionName);
    logs.values().forEach(log -> log.completeCacheFlush(encodedRegionName, maxFlushedSequenceId));
  }

  @Override
  public void abortCacheFlush(byte[] encodedRegionName) {
    unflushed.abortFlush(encodedRegionName);
    logs.values().forEach(log -> log.abortCacheFlush(encodedRegionName));
  }

  @Override
  public WALCoprocessorHost getCoprocessorHost() {
    return logs.get(Tier.FAST).getCoprocessorHost();
  }

  @Override
  @Deprecated
  public long getEarliestMemStoreSeqNum(byte[] encodedRegionName) {
    return unflushed.lowest(encodedRegionName);
  }

  @Override
  public long getEarliestMemStoreSeqNum(byte[] encodedRegionName, byte[] familyName) {
    return unflushed.lowest(encodedRegionName, familyName);
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
