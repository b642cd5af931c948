package dev.sluice.hbase.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyBoolean;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.ArgumentMatchers.anyMap;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.sluice.local.redirect.Tier;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.regionserver.MultiVersionConcurrencyControl;
import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.shaded.protobuf.generated.WALProtos.RegionEventDescriptor;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.wal.WAL;
import org.apache.hadoop.hbase.wal.WALEdit;
import org.apache.hadoop.hbase.wal.WALKeyImpl;
import org.junit.jupiter.api.Test;

class TieredWALTest {
  private static final byte[] REGION = Bytes.toBytes("region");
  private static final byte[] ONE = Bytes.toBytes("one");
  private static final byte[] OTHER = Bytes.toBytes("other");
  private static final Map<byte[], Long> WHOLE = Map.of(ONE, HConstants.NO_SEQNUM);

  private final WAL fast = mock(WAL.class);
  private final WAL slow = mock(WAL.class);
  private Tier ordered = Tier.FAST;
  private final TierChooser chooser =
      new TierChooser(() -> Optional.of(ordered), Optional::empty, new HandlerQueues());
  private final TieredWAL log = new TieredWAL(fast, slow, chooser);
  private final MultiVersionConcurrencyControl numbers = new MultiVersionConcurrencyControl(100);

  private long append(Tier tier) throws IOException {
    return append(tier, ONE);
  }

  private long append(Tier tier, byte[] family) throws IOException {
    ordered = tier;
    WALEdit edit = new WALEdit();
    edit.add(new KeyValue(Bytes.toBytes("row"), family, null, 1L, Bytes.toBytes("value")));
    long number = log.appendData(null, key(), edit);
    // The log of this test does neither this nor anything else.
    numbers.completeAndWait(numbers.begin());
    return number;
  }

  private WALKeyImpl key() {
    return new WALKeyImpl(REGION, TableName.valueOf("table"), 1, numbers);
  }

  private void startFlush(byte[]... families) {
    when(fast.startCacheFlush(any(), anyMap())).thenReturn(HConstants.NO_SEQNUM);
    when(slow.startCacheFlush(any(), anyMap())).thenReturn(HConstants.NO_SEQNUM);
    log.startCacheFlush(REGION, Set.of(families));
  }

  @Test
  void anEditIsSyncedInTheLogThatHoldsIt() throws Exception {
    when(fast.appendData(any(), any(), any())).thenReturn(7L);
    when(slow.appendData(any(), any(), any())).thenReturn(7L);
    long onFast = append(Tier.FAST);
    long onSlow = append(Tier.SLOW);
    log.sync(onSlow);
    verify(slow).sync(7L);
    verify(fast, never()).sync(anyLong());
    log.sync(onFast, true);
    verify(fast).sync(7L, true);
  }

  @Test
  void whoeverWaitsIsCountedForAsLong() throws Exception {
    when(slow.appendData(any(), any(), any())).thenReturn(1L);
    doThrow(new IOException("no disk")).when(slow).sync(1L);
    long number = append(Tier.SLOW);
    assertThrows(IOException.class, () -> log.sync(number));
    assertEquals(OptionalLong.of(0), chooser.requests(Tier.SLOW));
  }

  @Test
  void aSyncOfAllIsOfWhatBothHave() throws Exception {
    when(fast.appendMarker(any(), any(), any())).thenReturn(8L);
    when(slow.appendData(any(), any(), any())).thenReturn(5L, 6L);
    append(Tier.SLOW);
    append(Tier.SLOW);
    log.appendMarker(null, key(), new WALEdit());
    log.sync();
    verify(fast).sync(8L);
    verify(slow).sync(6L);
  }

  @Test
  void anEditIsUnflushedBeforeItsLogKnows() throws Exception {
    append(Tier.FAST);
    append(Tier.SLOW);
    when(slow.getEarliestMemStoreSeqNum(REGION, ONE)).thenReturn(102L);
    when(fast.getEarliestMemStoreSeqNum(REGION, ONE)).thenReturn(HConstants.NO_SEQNUM);
    assertEquals(101, log.getEarliestMemStoreSeqNum(REGION, ONE));
    assertEquals(HConstants.NO_SEQNUM, log.getEarliestMemStoreSeqNum(REGION, OTHER));
  }

  @Test
  void aFlushLeavesWhatOtherFamiliesHave() throws Exception {
    append(Tier.FAST, OTHER);
    append(Tier.SLOW, ONE);
    when(fast.startCacheFlush(REGION, WHOLE)).thenReturn(HConstants.NO_SEQNUM);
    when(slow.startCacheFlush(REGION, WHOLE)).thenReturn(HConstants.NO_SEQNUM);
    assertEquals(101, log.startCacheFlush(REGION, WHOLE));
  }

  @Test
  void editsAreUnflushedUntilTheFlushIsOver() throws Exception {
    append(Tier.FAST);
    startFlush(ONE);
    append(Tier.SLOW);
    assertEquals(101, log.getEarliestMemStoreSeqNum(REGION, ONE));
    log.completeCacheFlush(REGION, 101);
    assertEquals(102, log.getEarliestMemStoreSeqNum(REGION, ONE));
    startFlush(ONE);
    log.completeCacheFlush(REGION, 102);
    assertEquals(HConstants.NO_SEQNUM, log.getEarliestMemStoreSeqNum(REGION, ONE));
  }

  @Test
  void aFlushThatIsAbortedHasFlushedNothing() throws Exception {
    append(Tier.FAST);
    startFlush(ONE);
    append(Tier.FAST);
    log.abortCacheFlush(REGION);
    log.completeCacheFlush(REGION, 102);
    assertEquals(101, log.getEarliestMemStoreSeqNum(REGION, ONE));
  }

  @Test
  void aFlushOfAPartLeavesTheNumberOfTheRest() throws Exception {
    append(Tier.FAST);
    Map<byte[], Long> part = Map.of(ONE, 150L);
    when(fast.startCacheFlush(REGION, part)).thenReturn(150L);
    when(slow.startCacheFlush(REGION, part)).thenReturn(150L);
    assertEquals(150, log.startCacheFlush(REGION, part));
    log.completeCacheFlush(REGION, 149);
    assertEquals(150, log.getEarliestMemStoreSeqNum(REGION, ONE));
    log.updateStore(REGION, ONE, 140L, true);
    assertEquals(150, log.getEarliestMemStoreSeqNum(REGION, ONE));
  }

  /** The edit of the slow log waits, and those after it have been compacted in memory. */
  @Test
  void anEditThatWaitsIsUnflushedWhateverIsCompactedInMemory() throws Exception {
    append(Tier.SLOW);
    append(Tier.FAST);
    log.updateStore(REGION, ONE, 102L, true);
    assertEquals(101, log.getEarliestMemStoreSeqNum(REGION, ONE));
    verify(slow, never()).updateStore(any(), any(), any(), anyBoolean());
    verify(fast, never()).updateStore(any(), any(), any(), anyBoolean());
  }

  @Test
  void aRegionThatIsClosedHasNothingUnflushed() throws Exception {
    append(Tier.FAST);
    RegionInfo region = RegionInfoBuilder.newBuilder(TableName.valueOf("table")).build();
    RegionEventDescriptor closed =
        ProtobufUtil.toRegionEventDescriptor(
            RegionEventDescriptor.EventType.REGION_CLOSE,
            region,
            102,
            ServerName.valueOf("host", 1, 1),
            Map.of());
    log.appendMarker(region, key(), WALEdit.createRegionEventWALEdit(region, closed));
    assertEquals(HConstants.NO_SEQNUM, log.getEarliestMemStoreSeqNum(REGION, ONE));
  }

  @Test
  void aFlushBeginsInBothOrInNeither() throws Exception {
    append(Tier.FAST);
    when(fast.startCacheFlush(REGION, WHOLE)).thenReturn(9L);
    when(slow.startCacheFlush(REGION, WHOLE)).thenReturn(null);
    assertNull(log.startCacheFlush(REGION, WHOLE));
    verify(fast).abortCacheFlush(REGION);
    verify(slow, never()).abortCacheFlush(REGION);
    log.completeCacheFlush(REGION, 101);
    assertEquals(101, log.getEarliestMemStoreSeqNum(REGION, ONE));
  }

  @Test
  void bothLearnThatAFlushIsOver() {
    log.completeCacheFlush(REGION, 12);
    verify(fast).completeCacheFlush(REGION, 12);
    verify(slow).completeCacheFlush(REGION, 12);
  }

  @Test
  void theRegionServerHasBothRolledItself() throws Exception {
    assertNull(log.rollWriter(true));
    verify(fast, never()).rollWriter(anyBoolean());
    verify(slow, never()).rollWriter(anyBoolean());
  }

  @Test
  void bothAreClosedThoughOneFails() throws Exception {
    doThrow(new IOException("no NameNode")).when(fast).close();
    assertThrows(IOException.class, log::close);
    verify(slow).close();
  }

  @Test
  void theLengthOfAFileIsThatOfItsLog() {
    Path file = new Path("/log");
    when(fast.getLogFileSizeIfBeingWritten(file)).thenReturn(OptionalLong.empty());
    when(slow.getLogFileSizeIfBeingWritten(file)).thenReturn(OptionalLong.of(5));
    assertEquals(OptionalLong.of(5), log.getLogFileSizeIfBeingWritten(file));
  }
}
