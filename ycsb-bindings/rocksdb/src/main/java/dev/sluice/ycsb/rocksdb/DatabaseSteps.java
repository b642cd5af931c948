package dev.sluice.ycsb.rocksdb;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.Properties;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/** What is done to the database between loads and runs. */
final class DatabaseSteps {
  /** RocksDB's Java has no call that waits for compactions; one has to ask. */
  private static final int ASK_MILLISECONDS = 100;

  /** One look can miss a compaction that ends in it and makes the next one due. */
  private static final int QUIET_LOOKS = 2;

  private static final String DUE = "rocksdb.compaction-pending";

  /** What is due before what runs, and flushes before what they make due: none slips by. */
  private static final List<String> AT_WORK =
      List.of(
          "rocksdb.mem-table-flush-pending",
          "rocksdb.num-running-flushes",
          DUE,
          "rocksdb.num-running-compactions");

  private DatabaseSteps() {}

  static void create(Properties properties) throws RocksDBException, IOException {
    OpenDatabase.create(RocksDbSettings.of(properties)).close();
  }

  static void drop(Properties properties) throws RocksDBException {
    RocksDbSettings settings = RocksDbSettings.of(properties);
    if (!Files.exists(settings.directory())) {
      return;
    }
    // With the options, which may name further folders of the database.
    try (DatabaseOptions options = DatabaseOptions.of(settings);
        Options whole = options.whole()) {
      RocksDB.destroyDB(settings.directory().toString(), whole);
    }
  }

  static void flush(Properties properties) throws RocksDBException {
    try (OpenDatabase opened = OpenDatabase.open(RocksDbSettings.of(properties));
        FlushOptions wait = new FlushOptions()) {
      opened.database().flush(wait, opened.family());
    }
  }

  static void compact(Properties properties) throws RocksDBException {
    try (OpenDatabase opened = OpenDatabase.open(RocksDbSettings.of(properties))) {
      opened.database().compactRange(opened.family());
    }
  }

  static void settle(Properties properties) throws RocksDBException, InterruptedException {
    try (OpenDatabase opened = OpenDatabase.open(RocksDbSettings.of(properties))) {
      awaitRest(
          name -> opened.database().getLongProperty(opened.family(), name),
          opened.compactsByItself());
    }
  }

  /** Gives a number of RocksDB's by the name of its property. */
  interface Numbers {
    long of(String property) throws RocksDBException;
  }

  /** Returns when nothing is at work, nor due if compactions begin by themselves. */
  static void awaitRest(Numbers numbers, boolean compactsByItself)
      throws RocksDBException, InterruptedException {
    int quiet = isAtWork(numbers, compactsByItself) ? 0 : 1;
    while (quiet < QUIET_LOOKS) {
      Thread.sleep(ASK_MILLISECONDS);
      quiet = isAtWork(numbers, compactsByItself) ? 0 : quiet + 1;
    }
  }

  private static boolean isAtWork(Numbers numbers, boolean compactsByItself)
      throws RocksDBException {
    for (String property : AT_WORK) {
      // RocksDB calls it due whether or not it may begin.
      boolean counts = compactsByItself || !property.equals(DUE);
      if (counts && numbers.of(property) != 0) {
        return true;
      }
    }
    return false;
  }
}
