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

  private static final List<String> AT_WORK =
      List.of(
          "rocksdb.mem-table-flush-pending",
          "rocksdb.num-running-flushes",
          "rocksdb.num-running-compactions");

  private static final String DUE = "rocksdb.compaction-pending";

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
      while (isAtWork(opened)) {
        Thread.sleep(ASK_MILLISECONDS);
      }
    }
  }

  private static boolean isAtWork(OpenDatabase opened) throws RocksDBException {
    for (String property : AT_WORK) {
      if (number(opened, property) != 0) {
        return true;
      }
    }
    // RocksDB calls it due whether or not it may begin.
    return opened.compactsByItself() && number(opened, DUE) != 0;
  }

  private static long number(OpenDatabase opened, String property) throws RocksDBException {
    return opened.database().getLongProperty(opened.family(), property);
  }
}
