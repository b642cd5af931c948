package dev.sluice.hbase.log;

import dev.sluice.local.redirect.Tier;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.regionserver.wal.WALActionsListener;
import org.apache.hadoop.hbase.wal.WALEdit;
import org.apache.hadoop.hbase.wal.WALKey;

/** Counts what is logged, by the tier that was ordered when the file of the log was begun. */
final class TierBytes {
  private final Supplier<Optional<Tier>> ordered;
  private final Map<Tier, LongAdder> bytes = new EnumMap<>(Tier.class);
  private final LongAdder others = new LongAdder();

  TierBytes(Supplier<Optional<Tier>> ordered) {
    this.ordered = ordered;
    for (Tier tier : Tier.values()) {
      bytes.put(tier, new LongAdder());
    }
  }

  long of(Tier tier) {
    return bytes.get(tier).sum();
  }

  /** What was logged where the store's configuration says. */
  long ofOthers() {
    return others.sum();
  }

  /** A listener of a log that is always on one tier. */
  WALActionsListener listenerOf(Tier tier) {
    LongAdder own = bytes.get(tier);
    return new WALActionsListener() {
      @Override
      public void postAppend(
          long entryLength, long elapsedTimeMillis, WALKey logKey, WALEdit logEdit) {
        own.add(entryLength);
      }
    };
  }

  /** A listener of a log that is moved. */
  WALActionsListener listener() {
    return new WALActionsListener() {
      private volatile LongAdder now = others;

      @Override
      public void postLogRoll(Path oldPath, Path newPath) {
        now = ordered.get().map(bytes::get).orElse(others);
      }

      @Override
      public void postAppend(
          long entryLength, long elapsedTimeMillis, WALKey logKey, WALEdit logEdit) {
        now.add(entryLength);
      }
    };
  }
}
