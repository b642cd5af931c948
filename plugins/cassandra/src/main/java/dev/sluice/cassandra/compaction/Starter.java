package dev.sluice.cassandra.compaction;

import dev.sluice.cassandra.Tables;
import dev.sluice.local.lease.Scope;
import dev.sluice.local.protocol.Refusal;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.compaction.CompactionManager;
import org.apache.cassandra.utils.FBUtilities;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Starts compactions by order. */
final class Starter {
  static final String MINOR = "minor";
  static final String MAJOR = "major";

  private static final Logger LOG = LoggerFactory.getLogger(Starter.class);
  private static final int MOST_WAITING = 100;

  private final Deferrals deferrals;
  private final ExecutorService executor =
      new ThreadPoolExecutor(
          0, 1, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>(MOST_WAITING), Starter::thread);

  Starter(Deferrals deferrals) {
    this.deferrals = deferrals;
  }

  private static Thread thread(Runnable task) {
    Thread thread = new Thread(task, "sluice-compact");
    thread.setDaemon(true);
    return thread;
  }

  /** Starts them without a wait: a major one first ends those of its table, which takes time. */
  void start(Scope scope, String variant) throws Refusal {
    boolean isMajor = !variant.equals(MINOR);
    int leastFiles = isMajor ? 1 : 2;
    List<ColumnFamilyStore> tables =
        Tables.in(scope).stream()
            .filter(table -> table.getLiveSSTables().size() >= leastFiles)
            .toList();
    if (tables.isEmpty()) {
      throw Refusal.refused("there is nothing to compact", "Flush tables first, or wait.");
    }
    try {
      executor.execute(() -> tables.forEach(table -> start(table, isMajor)));
    } catch (RejectedExecutionException e) {
      throw Refusal.refused(
          MOST_WAITING + " such orders wait already", "Try again when compactions have begun.");
    }
  }

  private void start(ColumnFamilyStore table, boolean isMajor) {
    try {
      if (isMajor) {
        long now = FBUtilities.nowInSeconds();
        long gcBefore = CompactionManager.getDefaultGcBefore(table, now);
        CompactionManager.instance.submitMaximal(table, gcBefore, false);
      } else {
        deferrals.release(table);
        CompactionManager.instance.submitBackground(table);
      }
    } catch (RuntimeException e) {
      LOG.error("the compaction of {} that was ordered has not begun", table, e);
    }
  }
}
