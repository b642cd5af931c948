package dev.sluice.hbase.log;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.sluice.local.redirect.Tier;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.regionserver.MultiVersionConcurrencyControl;
import org.apache.hadoop.hbase.regionserver.wal.FSHLog;
import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.shaded.protobuf.generated.WALProtos.RegionEventDescriptor;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.apache.hadoop.hbase.wal.WAL;
import org.apache.hadoop.hbase.wal.WALEdit;
import org.apache.hadoop.hbase.wal.WALKeyImpl;
import org.apache.hadoop.hbase.wal.WALProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What upstream's logs have to do with each other. */
class TieredUpstreamLogsTest {
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final TableName TABLE = TableName.valueOf("table");

  @TempDir java.nio.file.Path folder;

  private final RegionInfo region = RegionInfoBuilder.newBuilder(TABLE).build();
  private final MultiVersionConcurrencyControl numbers = new MultiVersionConcurrencyControl(100);
  private Tier ordered = Tier.FAST;
  private BreakableLog fast;
  private BreakableLog slow;
  private TieredWAL log;

  @BeforeEach
  void open() throws IOException {
    fast = open("fast");
    slow = open("slow");
    log =
        new TieredWAL(
            fast,
            slow,
            new TierChooser(() -> Optional.of(ordered), Optional::empty, new HandlerQueues()));
  }

  /** A log whose stream can break, as that of a file whose DataNodes are gone. */
  private static final class BreakableLog extends FSHLog {
    private final AtomicBoolean isBroken = new AtomicBoolean();

    BreakableLog(FileSystem files, Path root, String name, Configuration conf) throws IOException {
      super(files, root, name, conf);
    }

    @Override
    protected WALProvider.Writer createWriterInstance(Path path) throws IOException {
      WALProvider.Writer writer = super.createWriterInstance(path);
      return (WALProvider.Writer)
          Proxy.newProxyInstance(
              WALProvider.Writer.class.getClassLoader(),
              new Class<?>[] {WALProvider.Writer.class},
              (proxy, method, arguments) -> {
                if (method.getName().equals("sync") && isBroken.get()) {
                  throw new IOException("all DataNodes are bad");
                }
                return method.invoke(writer, arguments);
              });
    }
  }

  private BreakableLog open(String name) throws IOException {
    Configuration conf = HBaseConfiguration.create();
    conf.setBoolean("fs.file.impl.disable.cache", true);
    conf.setBoolean(CommonFSUtils.UNSAFE_STREAM_CAPABILITY_ENFORCE, false);
    Path root = new Path(folder.toUri());
    BreakableLog opened = new BreakableLog(root.getFileSystem(conf), root, name, conf);
    opened.init();
    return opened;
  }

  @AfterEach
  void close() throws IOException {
    log.close();
  }

  private WALKeyImpl key() {
    return new WALKeyImpl(region.getEncodedNameAsBytes(), TABLE, 1, numbers);
  }

  private void append(Tier tier) throws IOException {
    log.sync(appendUnsynced(tier));
  }

  private long appendUnsynced(Tier tier) throws IOException {
    ordered = tier;
    WALEdit edit = new WALEdit();
    edit.add(new KeyValue(Bytes.toBytes("row"), FAMILY, null, 1L, Bytes.toBytes("value")));
    WALKeyImpl key = key();
    long number = log.appendData(region, key, edit);
    numbers.complete(key.getWriteEntry());
    return number;
  }

  private void closeRegion() throws IOException {
    RegionEventDescriptor closed =
        ProtobufUtil.toRegionEventDescriptor(
            RegionEventDescriptor.EventType.REGION_CLOSE,
            region,
            numbers.getReadPoint(),
            ServerName.valueOf("host", 1, 1),
            Map.of());
    WALKeyImpl key = key();
    log.sync(log.appendMarker(region, key, WALEdit.createRegionEventWALEdit(region, closed)));
    numbers.complete(key.getWriteEntry());
  }

  private long unflushed(WAL of) {
    return of.getEarliestMemStoreSeqNum(region.getEncodedNameAsBytes(), FAMILY);
  }

  /**
   * As after a sync that was interrupted: the edits are in no memory, and no flush tells of them.
   */
  @Test
  void editsThatNobodyHasFlushedKeepNoFileOfARegionThatIsClosed() throws Exception {
    append(Tier.FAST);
    append(Tier.SLOW);
    assertNotEquals(HConstants.NO_SEQNUM, unflushed(fast));
    assertNotEquals(HConstants.NO_SEQNUM, unflushed(slow));
    closeRegion();
    assertEquals(HConstants.NO_SEQNUM, unflushed(fast));
    assertEquals(HConstants.NO_SEQNUM, unflushed(slow));
  }

  /** A flush that fails for it would have the next one lose what has come in between. */
  @Test
  void aLogThatBreaksWhileNobodyWritesToItIsInNoFlushsWay() throws Exception {
    append(Tier.SLOW);
    slow.isBroken.set(true);
    append(Tier.FAST);
    assertDoesNotThrow(() -> log.sync());
  }

  @Test
  void whatIsNotSyncedIsInItsWay() throws Exception {
    append(Tier.SLOW);
    slow.isBroken.set(true);
    appendUnsynced(Tier.SLOW);
    assertThrows(IOException.class, () -> log.sync());
    slow.isBroken.set(false);
  }
}
