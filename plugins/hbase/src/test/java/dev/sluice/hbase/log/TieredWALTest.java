package dev.sluice.hbase.log;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import dev.sluice.local.redirect.Tier;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.wal.WAL;
import org.apache.hadoop.hbase.wal.WALEdit;
import org.junit.jupiter.api.Test;

class TieredWALTest {
  private static final byte[] REGION = Bytes.toBytes("region");
  private static final byte[] ONE = Bytes.toBytes("one");
  private static final byte[] OTHER = Bytes.toBytes("other");
  private static final Set<byte[]> FAMILIES = Set.of(ONE);

  private final WAL fast = mock(WAL.class);
  private final WAL slow = mock(WAL.class);
  private Tier ordered = Tier.FAST;
  private final TierChooser chooser = new TierChooser(() -> Optional.of(ordered), Optional::empty);
  private final TieredWAL log = new TieredWAL(fast, slow, chooser);

  private long append(Tier tier) throws IOException {
    ordered = tier;
    return log.appendData(null, null, new WALEdit());
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
    assertEquals(0, chooser.waiting(Tier.SLOW));
  }

  @Test
  void aSyncOfAllIsOfBoth() throws Exception {
    log.sync();
    verify(fast).sync();
    verify(slow).sync();
  }

  @Test
  void aFlushHasTheEarlierOfBothNumbers() {
    when(fast.startCacheFlush(REGION, FAMILIES)).thenReturn(9L, HConstants.NO_SEQNUM, 9L);
    when(slow.startCacheFlush(REGION, FAMILIES)).thenReturn(4L, 4L, HConstants.NO_SEQNUM);
    assertEquals(4, log.startCacheFlush(REGION, FAMILIES));
    assertEquals(4, log.startCacheFlush(REGION, FAMILIES));
    assertEquals(9, log.startCacheFlush(REGION, FAMILIES));
  }

  @Test
  void aFlushBeginsInBothOrInNeither() {
    when(fast.startCacheFlush(REGION, FAMILIES)).thenReturn(9L);
    when(slow.startCacheFlush(REGION, FAMILIES)).thenReturn(null);
    assertNull(log.startCacheFlush(REGION, FAMILIES));
    verify(fast).abortCacheFlush(REGION);
    verify(slow, never()).abortCacheFlush(REGION);
  }

  @Test
  void bothLearnThatAFlushIsOver() {
    log.completeCacheFlush(REGION, 12);
    verify(fast).completeCacheFlush(REGION, 12);
    verify(slow).completeCacheFlush(REGION, 12);
  }

  @Test
  void aRollAsksForWhatEitherNeedsFlushed() throws Exception {
    assertNull(log.rollWriter());
    when(fast.rollWriter(true)).thenReturn(families(ONE));
    when(slow.rollWriter(true)).thenReturn(families(OTHER, Bytes.toBytes("one")));
    Map<byte[], List<byte[]>> wanted = log.rollWriter(true);
    assertEquals(1, wanted.size());
    assertEquals(2, wanted.get(REGION).size());
    assertArrayEquals(ONE, wanted.get(REGION).get(0));
    assertArrayEquals(OTHER, wanted.get(REGION).get(1));
  }

  private static Map<byte[], List<byte[]>> families(byte[]... families) {
    Map<byte[], List<byte[]>> wanted = new TreeMap<>(Bytes.BYTES_COMPARATOR);
    wanted.put(REGION, List.of(families));
    return wanted;
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
